// Times in words: on the page, and longer for a screen reader.

// "9:05", from an hour on "1:09:05".
function clockTime(seconds) {
  const whole = Math.floor(seconds);
  const two = (value) => String(value).padStart(2, "0");
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor(whole / 60) % 60;
  return hours ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}

// "6 minutes 10 seconds", "1 hour 2 minutes".
function spokenTime(seconds) {
  const whole = Math.round(seconds);
  const counted = (value, word) => (value ? `${value} ${word}${value === 1 ? "" : "s"}` : "");
  const hours = Math.floor(whole / 3600);
  const parts = [counted(hours, "hour"), counted(Math.floor(whole / 60) % 60, "minute"), hours ? "" : counted(whole % 60, "second")];
  return parts.filter(Boolean).join(" ") || "0 seconds";
}

// Whole minutes: they change once a minute, and nobody has to watch seconds run.
function roughTime(seconds) {
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min`;
  return minutes < 24 * 60 ? `${Math.floor(minutes / 60)} h ${minutes % 60} min` : "more than a day";
}

// What stands large: what is left, what was needed, or where the clock was stopped.
function clockFact(run, minutes, elapsed) {
  if (!run) return `${minutes} min`;
  if (run.complete) return clockTime(elapsed);
  if (run.since === null) return `stopped at ${clockTime(elapsed)}`;
  const left = 60 * run.minutes - elapsed;
  if (left <= 0) return "time is over";
  return left < 60 ? "less than a minute left" : `${Math.ceil(left / 60)} min left`;
}

// The sentence beside it.
function clockSentence(run, count, elapsed) {
  if (!run) return "on the clock once you start it. Without it the functions tick all the same.";
  const over = Math.floor(elapsed) - 60 * run.minutes;
  const breaks = run.breaks ? `, with ${run.breaks} break${run.breaks === 1 ? "" : "s"}` : "";
  if (run.complete) {
    const within = over <= 0 ? `within the ${run.minutes} min` : `${clockTime(over)} more than the ${run.minutes} min`;
    return `for all ${count} functions, ${within}${breaks}.`;
  }
  if (run.since === null) return `of ${run.minutes} min${breaks}. Go on from there, or start again.`;
  if (over < 0) return `of ${run.minutes} min${breaks}.`;
  return `since ${roughTime(over)}. Go on as long as you like: the clock keeps counting, and what you pass is noted.`;
}
