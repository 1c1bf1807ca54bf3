/** Replaces each match of a global pattern with the result of `replacer`. */
export function replaceMatches(
  text: string,
  pattern: RegExp,
  replacer: (match: RegExpExecArray, groups: Record<string, string | undefined>) => string,
): string {
  let [result, end] = ['', 0];
  for (const match of text.matchAll(pattern)) {
    result += text.slice(end, match.index) + replacer(match, match.groups ?? {});
    end = match.index + match[0].length;
  }
  return result + text.slice(end);
}
