/** Info string of a fenced code block. */
export interface Fence {
  /** As written; empty if there is none. */
  language: string;
  /** A file name or title, in the forms that models use: ```` ```html title="a.html" ````, ```` ```html a.html ```` and ```` ```html:a.html ````. */
  name?: string;
}

const TITLE_ATTRIBUTE = /(?:^|\s)(?:title|file|filename|name)=(?:"([^"]+)"|'([^']+)'|(\S+))/i;
const FILE_NAME = /^[\w./ -]+\.\w{1,8}$/;

export function parseFence(info: string): Fence {
  const [first = ''] = /^\S*/.exec(info) ?? [];
  const rest = info.slice(first.length).trim();
  const [, language = first, after = ''] = /^([\w+#.-]+):(\S+)$/.exec(first) ?? [];
  const [, double, single, bare] = TITLE_ATTRIBUTE.exec(rest) ?? [];
  const name = double ?? single ?? bare ?? [after, rest].find((each) => FILE_NAME.test(each));
  return name === undefined ? { language } : { language, name };
}
