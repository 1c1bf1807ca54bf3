/** Info string of a fenced code block. */
export interface Fence {
  /** As written; empty if there is none. */
  language: string;
  /** A file name or title, in the forms that models use: ```` ```html title="a.html" ````, ```` ```html a.html ```` and ```` ```html:a.html ````. */
  name?: string;
}

const NAMED = /(?:^|\s)(?:title|file|filename|name)=(?:"([^"]+)"|'([^']+)'|(\S+))/i;
const FILE = /^[\w./ -]+\.\w{1,8}$/;

export function fenceOf(info: string): Fence {
  const [first = ''] = /^\S*/.exec(info) ?? [];
  const rest = info.slice(first.length).trim();
  const [, language = first, after = ''] = /^([\w+#.-]+):(\S+)$/.exec(first) ?? [];
  const [, double, single, bare] = NAMED.exec(rest) ?? [];
  const name = double ?? single ?? bare ?? [after, rest].find((each) => FILE.test(each));
  return name === undefined ? { language } : { language, name };
}
