import { Marked, type Tokens, type Token } from 'marked';

const markdown = new Marked({ gfm: true, breaks: true });

/** Markup of a platform for formatted text. */
interface MarkupStyle {
  escape(text: string): string;
  /** `label`: already converted; may be empty. */
  toLink(url: string, label: string): string;
}

/** Converts Markdown to the markup of chat platforms with `*bold*`, `_italic_` and `~struck~`. */
export const renderChatMarkup = (text: string, style: MarkupStyle): string =>
  new MarkupRenderer(style).renderBlocks(markdown.lexer(text)).trim();

class MarkupRenderer {
  readonly #style: MarkupStyle;

  constructor(style: MarkupStyle) {
    this.#style = style;
  }

  renderBlocks(tokens: readonly Token[]): string {
    return tokens.map((token) => this.#renderBlock(token)).join('');
  }

  #renderBlock(token: Token): string {
    const { escape } = this.#style;
    const { type } = token as Tokens.Generic;
    switch (type) {
      case 'space':
        return '\n';
      case 'heading':
        return `*${this.#renderInline((token as Tokens.Heading).tokens, { isBold: true })}*\n`;
      case 'code':
        return `\`\`\`\n${escape((token as Tokens.Code).text)}\n\`\`\`\n`;
      case 'blockquote':
        return `${this.renderBlocks((token as Tokens.Blockquote).tokens)
          .trimEnd()
          .split('\n')
          .map((line) => `> ${line}`)
          .join('\n')}\n`;
      case 'list':
        return this.#renderList(token as Tokens.List, 0);
      case 'hr':
        return '———\n';
      case 'table':
        return this.#renderTable(token as Tokens.Table);
      case 'paragraph':
      case 'text':
        return `${this.#renderInline((token as Tokens.Paragraph).tokens ?? [token])}\n`;
      default:
        return escape(token.raw);
    }
  }

  #renderList({ ordered, start, items }: Tokens.List, depth: number): string {
    const first = typeof start === 'number' ? start : 1;
    return items
      .map(({ task, checked, tokens }, index) => {
        const mark = task ? (checked ? '☑' : '☐') : ordered ? `${first + index}.` : depth === 0 ? '•' : '◦';
        const body = tokens
          .map((each) => (each.type === 'list' ? this.#renderList(each as Tokens.List, depth + 1) : this.#renderBlock(each)))
          .join('')
          .trimEnd();
        const [head = '', ...rest] = body.split('\n');
        return [`${mark} ${head}`, ...rest.map((line) => (line === '' ? '' : `    ${line}`))].join('\n') + '\n';
      })
      .join('');
  }

  /** Chat platforms have no tables: rows of plain text in columns. */
  #renderTable({ header, rows }: Tokens.Table): string {
    const lines = [header, ...rows].map((cells) => cells.map(({ text }) => text));
    const widths = header.map((_, column) => Math.max(...lines.map((cells) => cells[column]?.length ?? 0)));
    const text = lines.map((cells) =>
      cells
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    );
    return `\`\`\`\n${this.#style.escape(text.join('\n'))}\n\`\`\`\n`;
  }

  /** `isBold`: the text around is bold, which these platforms cannot nest. */
  #renderInline(tokens: readonly Token[], options: { isBold?: boolean } = {}): string {
    return tokens.map((token) => this.#renderSpan(token, options)).join('');
  }

  #renderSpan(token: Token, { isBold = false }: { isBold?: boolean }): string {
    const { escape } = this.#style;
    const nested = (more: { isBold?: boolean } = {}): string =>
      this.#renderInline((token as Tokens.Generic).tokens ?? [], { isBold, ...more });
    switch (token.type) {
      case 'strong':
        return isBold ? nested() : `*${nested({ isBold: true })}*`;
      case 'em':
        return `_${nested()}_`;
      case 'del':
        return `~${nested()}~`;
      case 'codespan':
        return `\`${escape((token as Tokens.Codespan).text)}\``;
      case 'br':
        return '\n';
      case 'link':
        return this.#renderLink((token as Tokens.Link).href, nested());
      case 'image':
        return this.#renderLink((token as Tokens.Image).href, escape((token as Tokens.Image).text));
      case 'escape':
        return escape((token as Tokens.Escape).text);
      case 'text':
        return (token as Tokens.Text).tokens ? nested() : escape((token as Tokens.Text).text);
      default:
        return escape(token.raw);
    }
  }

  #renderLink(href: string, label: string): string {
    const { escape, toLink } = this.#style;
    if (!/^(https?|mailto):/i.test(href)) return label || escape(href);
    return toLink(href, label.replaceAll('\n', ' '));
  }
}
