/** Replaces each match of a global pattern with the result of `by`. */
export function replaceMatches(
  text: string,
  pattern: RegExp,
  by: (match: RegExpExecArray, groups: Record<string, string | undefined>) => string,
): string {
  let [made, end] = ['', 0];
  for (const match of text.matchAll(pattern)) {
    made += text.slice(end, match.index) + by(match, match.groups ?? {});
    end = match.index + match[0].length;
  }
  return made + text.slice(end);
}
