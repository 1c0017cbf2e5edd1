// What the SoftmaxExplorer computes, without a picture: softmaxReadout(scores, c) ->
//   {scaled, weights, sum, largest, winner, spread, gradient}
// spread is entropy / log n (1: even, 0: one-hot; 0 for one score by convention). gradient is the Frobenius norm of
// diag(a) - a aᵀ, the derivative of the weights a with respect to the scaled scores.

function softmaxReadout(scores, c) {
  const scaled = scores.map((score) => c * score);
  const top = Math.max(...scaled);
  // The largest score is taken off first: exp() then never overflows, and the quotient stays the same.
  const powers = scaled.map((score) => Math.exp(score - top));
  const total = powers.reduce((sum, power) => sum + power, 0);
  const weights = powers.map((power) => power / total);
  const sum = weights.reduce((all, weight) => all + weight, 0);
  const entropy = -weights.reduce((all, weight) => all + (weight > 0 ? weight * Math.log(weight) : 0), 0);
  let square = 0;
  weights.forEach((a, i) => {
    weights.forEach((b, j) => {
      const slope = (i === j ? a : 0) - a * b;
      square += slope * slope;
    });
  });
  const largest = Math.max(...weights);
  return {
    scaled,
    weights,
    sum,
    largest,
    winner: weights.indexOf(largest),
    spread: scores.length > 1 ? Math.max(0, entropy) / Math.log(scores.length) : 0,
    gradient: Math.sqrt(square),
  };
}
