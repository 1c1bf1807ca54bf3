/** Info string of a fenced code block. */
interface Fence {
  /** Language as written; empty if there is none. */
  language: string;
  /** A file name or title, in the forms that models use: ```` ```html title="a.html" ````, ```` ```html a.html ```` and ```` ```html:a.html ````. */
  name?: string;
}

const TITLE_ATTRIBUTE = /(?:^|\s)(?:title|file|filename|name)=(?:"([^"]+)"|'([^']+)'|(\S+))/i;
const FILE_NAME = /^[\w./ -]+\.\w{1,8}$/;

/** Parses the info string of a fenced code block. */
export function parseFence(info: string): Fence {
  const [first = ''] = /^\S*/.exec(info) ?? [];
  const attributes = info.slice(first.length).trim();
  const [, language = first, afterColon = ''] = /^([\w+#.-]+):(\S+)$/.exec(first) ?? [];
  const [, double, single, bare] = TITLE_ATTRIBUTE.exec(attributes) ?? [];
  const name = double ?? single ?? bare ?? [afterColon, attributes].find((each) => FILE_NAME.test(each));
  return name === undefined ? { language } : { language, name };
}
