import type { HighlightRequest, SyntaxRun } from './syntax-run.ts';

/** More is shown without colours. UTF-16 units. */
const MAX_CHARS = 50_000;

/**
 * Code in an element, with colours once they are known. What grows at the end keeps the nodes that it has: a selection stays, nothing flickers.
 */
export class HighlightedCode {
  readonly #element: HTMLElement;
  readonly #computeRuns: (asked: HighlightRequest) => Promise<readonly SyntaxRun[] | null>;
  /** The highlighted part: one node per run, then the rest as one text. */
  #runs: readonly SyntaxRun[] = [];
  readonly #remainder = new Text();
  #code = '';
  #language = '';
  #request = false;

  constructor(element: HTMLElement, runsOf: (asked: HighlightRequest) => Promise<readonly SyntaxRun[] | null>) {
    this.#element = element;
    this.#computeRuns = runsOf;
    element.replaceChildren(this.#remainder);
  }

  show(code: string, language: string): void {
    const grown = language === this.#language && code.startsWith(this.#code);
    const added = grown ? code.slice(this.#code.length) : '';
    this.#code = code;
    this.#language = language;
    if (grown) this.#remainder.appendData(added);
    else this.#showPlain();
    void this.#applyRuns();
  }

  #showPlain(): void {
    this.#runs = [];
    this.#remainder.data = this.#code;
    this.#element.replaceChildren(this.#remainder);
  }

  /** Requests highlighting of the current text, one request at a time, until no text was added in the meantime. */
  async #applyRuns(): Promise<void> {
    if (this.#request) return;
    this.#request = true;
    for (let done = ''; done !== this.#code && this.#language !== '' && this.#code.length <= MAX_CHARS;) {
      const code = this.#code;
      const language = this.#language;
      const runs = await this.#computeRuns({ code, language });
      if (language !== this.#language || !this.#code.startsWith(code)) continue;
      if (runs === null) break;
      this.#paint(code, runs);
      done = code;
    }
    this.#request = false;
  }

  #paint(code: string, runs: readonly SyntaxRun[]): void {
    let same = 0;
    let at = 0;
    for (const [index, { length, kind }] of runs.entries()) {
      const before = this.#runs[index];
      if (before?.length !== length || before.kind !== kind) break;
      same++;
      at += length;
    }
    const nodes = [...this.#element.childNodes];
    for (const node of nodes.slice(same, this.#runs.length)) node.remove();
    const fresh = document.createDocumentFragment();
    for (const { length, kind } of runs.slice(same)) fresh.append(createNode(code.slice(at, (at += length)), kind));
    this.#remainder.before(fresh);
    this.#runs = runs;
    this.#remainder.data = this.#code.slice(code.length);
  }
}

function createNode(text: string, kind: SyntaxRun['kind']): Node {
  if (kind === null) return new Text(text);
  return Object.assign(document.createElement('span'), { className: `code-${kind}`, textContent: text });
}
