import { Lexer, type Token } from 'marked';

/** A part of a Markdown text that is rendered by itself. The same object comes back as long as its source is the same. */
export type Block = { kind: 'code'; language: string; code: string } | { kind: 'markdown'; source: string };

const LEXING = { gfm: true, breaks: false } as const;

/**
 * Cuts a growing Markdown text into blocks. Only the last one can still change while text is added, so each `update` reads that one
 * and what is new, not the whole text.
 */
export class Blocks {
  #settled: Block[] = [];
  #settledChars = 0;
  #seen = '';
  #tail: Block[] = [];
  #definitions = '';

  /** The blocks of `text`. Where it does not begin with the text of the last call everything is read anew. */
  update(text: string): Block[] {
    if (text === this.#seen) return [...this.#settled, ...this.#tail];
    if (!text.startsWith(this.#seen)) this.#reset();
    this.#seen = text;
    const tokens = new Lexer(LEXING).blockTokens(text.slice(this.#settledChars));
    // A token may go on until another begins after it; empty lines do not yet end a list.
    const open = tokens.findLastIndex((token) => token.type !== 'space');
    for (const token of tokens.slice(0, Math.max(open, 0))) {
      this.#settledChars += token.raw.length;
      const block = this.#blockOf(token);
      if (block) this.#settled.push(block);
    }
    this.#tail = this.#reused(tokens.slice(Math.max(open, 0)).flatMap((token) => this.#blockOf(token) ?? []));
    return [...this.#settled, ...this.#tail];
  }

  #reset(): void {
    this.#settled = [];
    this.#settledChars = 0;
    this.#tail = [];
    this.#definitions = '';
  }

  #blockOf(token: Token): Block | null {
    if (token.type === 'space') return null;
    if (token.type === 'def') {
      this.#definitions += `\n${token.raw}`;
      return null;
    }
    if (token.type === 'code') return { kind: 'code', language: /^\S*/.exec(token.lang ?? '')?.[0] ?? '', code: token.text };
    // Links by reference need their definitions, which stand in another block.
    const source = this.#definitions !== '' && token.raw.includes('[') ? `${token.raw}\n${this.#definitions}` : token.raw;
    return { kind: 'markdown', source };
  }

  #reused(blocks: Block[]): Block[] {
    return blocks.map((block, index) => {
      const before = this.#tail[index];
      return before && JSON.stringify(before) === JSON.stringify(block) ? before : block;
    });
  }
}
