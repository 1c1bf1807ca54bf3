/** A span of time in words, to the second: `12 s`, `2 min 5 s`. `ms`: milliseconds. */
export function duration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  const rest = seconds % 60;
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min${rest > 0 ? ` ${rest} s` : ''}`;
}

/** How long a model thought, in words. */
export const thoughtFor = (ms: number): string => (ms < 1000 ? 'Thought for a moment' : `Thought for ${duration(ms)}`);
