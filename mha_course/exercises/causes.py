"""Why Python or PyTorch stopped: the cause behind an error text, and what deserves a look."""

from __future__ import annotations

import difflib
import re

# What `cat` says where the parts differ in another axis than the one named.
_APART = r"must match except in dimension (\d+)\. Expected size (\d+) but got size (\d+)"
_PAIR = r"torch\.return_types\.(\w+)"
_WHERE = "the line named"

# Pattern in the text "Kind: message", what it means, where to look. The first that fits is taken.
_CAUSES: tuple[tuple[str, str, str], ...] = (
    (
        r"NoneType|unary ~: 'None",
        "Something is `None` here: an argument that was left out, or what a function without `return` gave.",
        f"{_WHERE}: which of its names is `None`?",
    ),
    (
        r"^NotImplementedError(:(?! Could not run)|$)",
        "Your own code says that this case isn't written yet.",
        f"{_WHERE}, and the condition in front of it.",
    ),
    (
        r"masked_fill\(\) received .* got \(bool",
        "`None == 0` and the like give one `False` and no tensor: here is no mask, and nothing to hide.",
        "the case in which the mask is `None`.",
    ),
    (
        r"view size is not compatible",
        "`view` never moves a number, and after a transpose these axes lie apart in memory.",
        "the memory order: there is a method that copies when it must.",
    ),
    (
        r"must be (tuple of )?Tensors?, not (int|float)",
        "`torch` functions take tensors; for one number there is the same in `math`.",
        f"{_WHERE}: a number or a tensor?",
    ),
    (
        r"but ?got float|'float' object cannot be interpreted|slice indices must be integers|not float$",
        "A size or an index is a whole number, and a float stands there.",
        "the two divisions that Python has.",
    ),
    (
        r"Boolean value of Tensor|truth value of an array",
        "`if`, `and`, `or`, `not`, and Python's own `min` and `max` ask for one True or False; a whole "
        "tensor has many.",
        "what is asked: whether there is a tensor, or what stands in it.",
    ),
    (
        r"only supports boolean masks|only implemented on integer and Boolean",
        "A mask of numbers stands where a boolean one is needed.",
        "the dtype of the mask.",
    ),
    (
        r"not implemented for '(Bool|Long|Int)'",
        "That can't be done with booleans or whole numbers.",
        f"{_WHERE}: is it the scores that stand there, or a mask?",
    ),
    (
        r"operator, (with|on) a bool tensor",
        "A boolean tensor has no minus. `~` turns True and False round.",
        "the sign in front of the mask.",
    ),
    (
        r"expected scalar type|same dtype|mat1 and mat2 must have",
        "Two tensors of different dtypes meet.",
        f"{_WHERE}, and the dtypes that meet in it.",
    ),
    (
        r"only one element tensors|cannot be converted to Scalar|only integer tensors of a single element",
        "One number is wanted there, and a whole tensor was given: `torch.tensor` and `math` take numbers.",
        f"{_WHERE}: `torch` has functions for whole tensors, and others that put tensors together.",
    ),
    (
        r"must be tuple of Tensors, not Tensor",
        "Several tensors are wanted there, in a list or tuple, and one tensor was given.",
        f"{_WHERE}: how one tensor becomes a list of its parts.",
    ),
    (
        r"exceptions must derive from BaseException",
        "Only an error can be raised, and something else stands behind `raise`.",
        f"{_WHERE}: what stands behind `raise`.",
    ),
    (
        r"not generator|not map",
        "A generator is no list: PyTorch wants all the parts at once.",
        f"{_WHERE}: put `[ ]` or `list( )` around the parts.",
    ),
    (
        r"Dimension out of range",
        "There is no axis with that number: axes count from 0, and from -1 at the end.",
        f"{_WHERE}, and the number of axes there.",
    ),
    (
        r"too many indices|permute\(.*number of dimensions",
        "More or fewer axes are named than the tensor has.",
        f"{_WHERE}, and the number of axes there.",
    ),
    (
        r"IndexError",
        "There is nothing at that index: counting starts at 0, so the last index is the size minus 1.",
        f"{_WHERE}, and the largest index used in it.",
    ),
    (
        r"KeyError",
        "The dictionary has no such key.",
        "the key, letter by letter, and what should happen when there is none.",
    ),
    (
        r"values to unpack",
        "The number of names in front of `=` is not the number of things behind it.",
        f"{_WHERE}, and how many axes (or things) there are.",
    ),
    (
        r"(size|shape|dimension)s? .*(match|invalid|broadcast|multipl|expanded|equal)|Expected size"
        r"|cannot be multiplied|same number of dimensions|equal size|multiply up|Sizes of"
        r"|broadcast|mismatch in its core"
        r"|number of sizes provided|at least \d+D|must be .*D tensor|expected .*D",
        "",
        f"{_WHERE}, and the shapes that meet in it.",
    ),
    (
        r"not callable",
        "Round brackets call a function, and what stands in front of them is none.",
        f"{_WHERE}: `( )` where `[ ]` or nothing belongs, or a name that hides a function.",
    ),
    (
        r"'(builtin_function_or_method|method|function)'",
        "A function stands there that was not called.",
        f"{_WHERE}: a name without its `( )`.",
    ),
    (
        r"unexpected keyword|positional argument|required (positional )?argument|invalid combination of arg",
        "A function gets other arguments than it takes.",
        f"{_WHERE}: the number, the kind and the names of the arguments.",
    ),
    (
        r"'(tuple|list)' object has no attribute '(get|keys|values|items)'",
        "A list stands where a dictionary belongs: have two arguments changed places?",
        "the order of the arguments in the `def` line.",
    ),
    (
        r"NotImplementedError",
        "",
        f"{_WHERE}: this case is still to be written.",
    ),
    (
        r"'(tuple|list)' object has no attribute",
        "This is several tensors in a tuple or list, and not one tensor.",
        f"{_WHERE}: how several tensors become one.",
    ),
    (
        r"'(int|float)' object has no attribute",
        "A plain number stands there, and no tensor: it has no such method.",
        f"{_WHERE}: which of its names are numbers, and which are tensors?",
    ),
    (r"AttributeError", "", f"{_WHERE}: the name behind the dot, and what stands in front of it."),
    (
        r"TypeError",
        "Things of these kinds don't go together.",
        f"{_WHERE}, and the type of each thing in it.",
    ),
    (
        r"math range error|OverflowError",
        "A number became too large for a float.",
        f"{_WHERE}: what goes into `exp`.",
    ),
    (
        r"math domain error",
        "A logarithm or a root is taken of a number that has none: a negative one, or log of 0.",
        f"{_WHERE}: the sign of what stands in the brackets.",
    ),
    (r"ZeroDivisionError", "Something is divided by 0.", f"{_WHERE}: which divisor can be 0?"),
    (
        r"AssertionError",
        "An `assert` of your own does not hold.",
        f"{_WHERE}: its condition, for these sizes.",
    ),
    (r"No module named", "There is no module of that name here.", "the `import`."),
    (r"requires grad", "A tensor with a gradient can't become a NumPy array.", f"{_WHERE}: stay in `torch`."),
)


def cause(error: BaseException, text: str) -> tuple[str, str]:
    """What an error means, and where to look; the first is "" when the error's own text says it all.

    text: kind and message in one line, "TypeError: ...".
    """
    pair = re.search(_PAIR, text)
    if pair:
        return two_things(pair[1]), f"{_WHERE}: which of the two is needed?"
    apart = re.search(_APART, text)
    if apart:
        says = f"Here parts are put together along axis {apart[1]}, and all other axes have to be alike. "
        says += f"They differ in another one, {apart[2]} and {apart[3]}."
        return says, f"{_WHERE}: along which axis the parts go behind one another."
    for pattern, means, look in _CAUSES:
        if re.search(pattern, text):
            return means or _nearest(error), look
    return "", f"{_WHERE}."


def two_things(function: str) -> str:
    """What to say of `max`, `sort`, ... along an axis, which give values and places."""
    if function == "aminmax":
        return "`aminmax` gives two things, the smallest and the largest. Take `.min` or `.max`."
    instead = f", or use `a{function}`" if function in ("max", "min") else ""
    return f"`{function}` with a `dim` gives two things, values and places. Take `.values`{instead}."


def _nearest(error: BaseException) -> str:
    """The attribute that may have been meant, as a question, or ""."""
    if not isinstance(error, AttributeError) or not isinstance(error.name, str) or error.obj is None:
        return ""
    near = difflib.get_close_matches(error.name, dir(type(error.obj)), n=1, cutoff=0.7)
    return f"Is `{near[0]}` meant?" if near and not near[0].startswith("_") else ""
