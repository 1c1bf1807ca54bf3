/** A tool's result as the guide received it. */
interface ToolResult {
  tool: string;
  /** JSON, or plain text. */
  content: string;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function parseContent(content: string): unknown {
  try {
    return JSON.parse(content);
  } catch {
    return content;
  }
}

/** A code block with a fence longer than any in the text. */
function toCodeBlock(text: string, language = ''): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text}\n${fence}`;
}

/** A text as a Markdown block quote, cut to `limit` characters. */
export function toBlockQuote(text: string, limit = 400): string {
  const cut = text.length > limit ? `${text.slice(0, limit).trimEnd()}…` : text;
  return cut
    .trim()
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n');
}

function renderItem(value: Record<string, unknown>): string | undefined {
  const { title, text, id, ...rest } = value;
  if (typeof text !== 'string') return undefined;
  const facts = Object.entries({ ...rest, ...(id === undefined ? {} : { id }) })
    .filter(([, each]) => typeof each === 'string' || typeof each === 'number')
    .map(([key, each]) => `${key} \`${String(each).replaceAll('`', '')}\``)
    .join(', ');
  return `${typeof title === 'string' ? `**${title}**\n\n` : ''}${toBlockQuote(text)}${facts ? `\n\n${facts}` : ''}`;
}

/** The text of a file or page, unescaped: its Markdown is its own. */
function renderText({ file, url, title, part, notes, next }: Record<string, unknown>, text: string): string {
  const details = [title, part, ...(Array.isArray(notes) ? notes : [])].filter((each) => typeof each === 'string');
  const more = next === undefined ? '' : `\n\nTo go on, add: \`${JSON.stringify(next)}\``;
  return `**${String(file ?? url)}**${details.length > 0 ? `: ${details.join('; ')}` : ''}\n\n${toCodeBlock(text)}${more}`;
}

/** A result as Markdown: lists of found texts as block quotes, everything else as JSON. */
export function renderResult({ tool, content }: ToolResult): string {
  const value = parseContent(content);
  if (typeof value === 'string')
    return value.trim() === '' ? `\`${tool}\` finished without output.` : `\`${tool}\` says:\n\n${toCodeBlock(value)}`;
  if (isObject(value) && typeof value['error'] === 'string')
    return value['denied'] === true ? `${value['error']}.` : `\`${tool}\` failed: ${value['error']}`;
  if (isObject(value)) {
    if (tool === 'memory_add' && typeof value['text'] === 'string')
      return `Saved. Ask about it any time:\n\n${toBlockQuote(value['text'])}`;
    if (tool === 'current_time' && typeof value['local'] === 'string') return `It is ${value['local']} (${String(value['timeZone'])}).`;
    if (typeof value['text'] === 'string' && typeof (value['file'] ?? value['url']) === 'string') return renderText(value, value['text']);
    const results = value['results'];
    if (Array.isArray(results)) {
      if (results.length === 0) return `\`${tool}\` found nothing.`;
      const items = results.map((result) => (isObject(result) ? renderItem(result) : undefined));
      if (items.every((item) => item !== undefined)) return `\`${tool}\` found ${results.length}:\n\n${items.join('\n\n')}`;
    }
  }
  return `\`${tool}\` answers:\n\n${toCodeBlock(JSON.stringify(value, null, 2), 'json')}`;
}
