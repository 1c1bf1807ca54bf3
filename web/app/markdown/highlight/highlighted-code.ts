import type { HighlightRequest, SyntaxRun } from './syntax-run.ts';

/** Maximum length of highlighted code in UTF-16 units. */
const MAX_CHARS = 50_000;

/**
 * Shows code in an element, highlighted once its runs are computed. Text added at the end keeps existing nodes, so that a selection stays
 * and nothing flickers.
 */
export class HighlightedCode {
  readonly #element: HTMLElement;
  readonly #computeRuns: (request: HighlightRequest) => Promise<readonly SyntaxRun[] | null>;
  /** Runs of the highlighted part: one node each, followed by the remaining text. */
  #runs: readonly SyntaxRun[] = [];
  readonly #remainder = new Text();
  #code = '';
  #language = '';
  #isComputing = false;

  constructor(element: HTMLElement, computeRuns: (request: HighlightRequest) => Promise<readonly SyntaxRun[] | null>) {
    this.#element = element;
    this.#computeRuns = computeRuns;
    element.replaceChildren(this.#remainder);
  }

  show(code: string, language: string): void {
    const isAppended = language === this.#language && code.startsWith(this.#code);
    const added = isAppended ? code.slice(this.#code.length) : '';
    this.#code = code;
    this.#language = language;
    if (isAppended) this.#remainder.appendData(added);
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
    if (this.#isComputing) return;
    this.#isComputing = true;
    for (let done = ''; done !== this.#code && this.#language !== '' && this.#code.length <= MAX_CHARS;) {
      const code = this.#code;
      const language = this.#language;
      const runs = await this.#computeRuns({ code, language });
      if (language !== this.#language || !this.#code.startsWith(code)) continue;
      if (runs === null) break;
      this.#paint(code, runs);
      done = code;
    }
    this.#isComputing = false;
  }

  #paint(code: string, runs: readonly SyntaxRun[]): void {
    let unchangedCount = 0;
    let at = 0;
    for (const [index, { length, kind }] of runs.entries()) {
      const previous = this.#runs[index];
      if (previous?.length !== length || previous.kind !== kind) break;
      unchangedCount++;
      at += length;
    }
    const nodes = [...this.#element.childNodes];
    for (const node of nodes.slice(unchangedCount, this.#runs.length)) node.remove();
    const fragment = document.createDocumentFragment();
    for (const { length, kind } of runs.slice(unchangedCount)) fragment.append(createNode(code.slice(at, (at += length)), kind));
    this.#remainder.before(fragment);
    this.#runs = runs;
    this.#remainder.data = this.#code.slice(code.length);
  }
}

function createNode(text: string, kind: SyntaxRun['kind']): Node {
  if (kind === null) return new Text(text);
  return Object.assign(document.createElement('span'), { className: `code-${kind}`, textContent: text });
}
