import { Marked, type Tokens, type Token } from 'marked';

const markdown = new Marked({ gfm: true, breaks: true });

/** Escapes the characters that Slack reads as markup. */
export const escapeText = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

/** Converts Markdown to Slack's markup (https://docs.slack.dev/messaging/formatting-message-text). Names in the text notify nobody. */
export const toMrkdwn = (text: string): string => renderBlocks(markdown.lexer(text)).trim();

const renderBlocks = (tokens: readonly Token[]): string => tokens.map(renderBlock).join('');

function renderBlock(token: Token): string {
  const { type } = token as Tokens.Generic;
  switch (type) {
    case 'space':
      return '\n';
    case 'heading':
      return `*${renderInline((token as Tokens.Heading).tokens, { isBold: true })}*\n`;
    case 'code':
      return `\`\`\`\n${escapeText((token as Tokens.Code).text)}\n\`\`\`\n`;
    case 'blockquote':
      return `${renderBlocks((token as Tokens.Blockquote).tokens)
        .trimEnd()
        .split('\n')
        .map((line) => `> ${line}`)
        .join('\n')}\n`;
    case 'list':
      return renderList(token as Tokens.List, 0);
    case 'hr':
      return '———\n';
    case 'table':
      return renderTable(token as Tokens.Table);
    case 'paragraph':
    case 'text':
      return `${renderInline((token as Tokens.Paragraph).tokens ?? [token])}\n`;
    default:
      return escapeText(token.raw);
  }
}

function renderList({ ordered, start, items }: Tokens.List, depth: number): string {
  const first = typeof start === 'number' ? start : 1;
  return items
    .map(({ task, checked, tokens }, index) => {
      const mark = task ? (checked ? '☑' : '☐') : ordered ? `${first + index}.` : depth === 0 ? '•' : '◦';
      const body = tokens
        .map((each) => (each.type === 'list' ? renderList(each as Tokens.List, depth + 1) : renderBlock(each)))
        .join('')
        .trimEnd();
      const [head = '', ...rest] = body.split('\n');
      return [`${mark} ${head}`, ...rest.map((line) => (line === '' ? '' : `    ${line}`))].join('\n') + '\n';
    })
    .join('');
}

/** Slack has no tables in messages: rows of plain text in columns. */
function renderTable({ header, rows }: Tokens.Table): string {
  const lines = [header, ...rows].map((cells) => cells.map(({ text }) => text));
  const widths = header.map((_, column) => Math.max(...lines.map((cells) => cells[column]?.length ?? 0)));
  const text = lines.map((cells) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return `\`\`\`\n${escapeText(text.join('\n'))}\n\`\`\`\n`;
}

/** `isBold`: the text around is bold, which Slack cannot nest. */
function renderInline(tokens: readonly Token[], options: { isBold?: boolean } = {}): string {
  return tokens.map((token) => renderSpan(token, options)).join('');
}

function renderSpan(token: Token, { isBold = false }: { isBold?: boolean }): string {
  const nested = (more: { isBold?: boolean } = {}): string => renderInline((token as Tokens.Generic).tokens ?? [], { isBold, ...more });
  switch (token.type) {
    case 'strong':
      return isBold ? nested() : `*${nested({ isBold: true })}*`;
    case 'em':
      return `_${nested()}_`;
    case 'del':
      return `~${nested()}~`;
    case 'codespan':
      return `\`${escapeText((token as Tokens.Codespan).text)}\``;
    case 'br':
      return '\n';
    case 'link':
      return renderLink((token as Tokens.Link).href, nested());
    case 'image':
      return renderLink((token as Tokens.Image).href, escapeText((token as Tokens.Image).text));
    case 'escape':
      return escapeText((token as Tokens.Escape).text);
    case 'text':
      return (token as Tokens.Text).tokens ? nested() : escapeText((token as Tokens.Text).text);
    default:
      return escapeText(token.raw);
  }
}

function renderLink(href: string, label: string): string {
  if (!/^(https?|mailto):/i.test(href)) return label || escapeText(href);
  const url = escapeText(href).replaceAll('|', '%7C');
  const text = label.replaceAll('\n', ' ');
  return text === '' || text === url ? `<${url}>` : `<${url}|${text}>`;
}

/** Converts the text of a message to plain text. `getName`: display name of a user, if it is known. */
export function toPlainText(text: string, getName: (userId: string) => string | undefined): string {
  return text
    .replace(/<([^<>]*)>/g, (_, inner: string) => {
      const [target = '', label = ''] = inner.split('|');
      const [, kind = '', id = ''] = /^([@#!])(.*)$/.exec(target) ?? [];
      if (kind === '@') return `@${getName(id) ?? (label || id)}`;
      if (kind === '#') return `#${label || id}`;
      if (kind === '!') return label || `@${id.split('^')[0]}`;
      const address = target.replace(/^mailto:/, '');
      return label === '' || label === address ? address : `${label} (${address})`;
    })
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
    .trim();
}
