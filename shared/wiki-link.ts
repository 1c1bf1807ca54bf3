const NON_FILE_LINK_PATTERN = /^(?:[a-z][a-z\d+.-]*:|\/\/|#)/i;
/** The destination and title of a Markdown link, after its text. */
export const MARKDOWN_LINK_PATTERN = /\]\(\s*(<[^<>\n]*>|[^\s()<>]+(?:\([^\s()<>]*\)[^\s()<>]*)*)(?:\s+(?:"[^"\n]*"|'[^'\n]*'))?\s*\)/;

interface PageTarget {
  target: string;
  heading?: string;
}

/** Converts the destination of a Markdown link, such as `B%20page.md#Top`, to a page; null if it is not a Markdown file of the wiki. */
export function toPageTarget(destination: string, from: string): PageTarget | null {
  const address = destination.replace(/^<|>$/g, '').trim();
  if (NON_FILE_LINK_PATTERN.test(address)) return null;
  const [file = '', heading] = address.split('#', 2);
  const path = decodePath(file);
  if (!/\.(md|markdown)$/i.test(path)) return null;
  return {
    target: resolveRelative(path.replace(/\.(md|markdown)$/i, ''), from),
    ...(heading ? { heading: decodePath(heading) } : {}),
  };
}

/**
 * Resolves a target that begins with `./` or `../` to a path from the root of the wiki; others are returned unchanged. If it leads out of
 * the wiki, only its name is used.
 */
export function resolveRelative(target: string, from: string): string {
  if (!/^\.\.?\//.test(target)) return target;
  const names = from.split('/').slice(0, -1);
  for (const name of target.split('/')) {
    if (name === '.' || name === '') continue;
    if (name !== '..') names.push(name);
    else if (names.pop() === undefined) return target.slice(target.lastIndexOf('/') + 1);
  }
  return names.join('/');
}

function decodePath(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
