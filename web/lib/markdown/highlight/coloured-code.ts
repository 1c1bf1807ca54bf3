import type { Asked, Run } from './run.ts';

/** More is shown without colours. UTF-16 units. */
const MOST_CHARS = 50_000;

/**
 * Code in an element, with colours once they are known. What grows at the end keeps the nodes that it has: a selection stays, nothing flickers.
 */
export class ColouredCode {
  readonly #element: HTMLElement;
  readonly #runsOf: (asked: Asked) => Promise<readonly Run[] | null>;
  /** The highlighted part: one node per run, then the rest as one text. */
  #runs: readonly Run[] = [];
  readonly #rest = new Text();
  #code = '';
  #language = '';
  #asking = false;

  constructor(element: HTMLElement, runsOf: (asked: Asked) => Promise<readonly Run[] | null>) {
    this.#element = element;
    this.#runsOf = runsOf;
    element.replaceChildren(this.#rest);
  }

  show(code: string, language: string): void {
    const grown = language === this.#language && code.startsWith(this.#code);
    const added = grown ? code.slice(this.#code.length) : '';
    this.#code = code;
    this.#language = language;
    if (grown) this.#rest.appendData(added);
    else this.#plain();
    void this.#colour();
  }

  #plain(): void {
    this.#runs = [];
    this.#rest.data = this.#code;
    this.#element.replaceChildren(this.#rest);
  }

  /** Requests highlighting of the current text, one request at a time, until no text was added in the meantime. */
  async #colour(): Promise<void> {
    if (this.#asking) return;
    this.#asking = true;
    for (let done = ''; done !== this.#code && this.#language !== '' && this.#code.length <= MOST_CHARS;) {
      const code = this.#code;
      const language = this.#language;
      const runs = await this.#runsOf({ code, language });
      if (language !== this.#language || !this.#code.startsWith(code)) continue;
      if (runs === null) break;
      this.#paint(code, runs);
      done = code;
    }
    this.#asking = false;
  }

  #paint(code: string, runs: readonly Run[]): void {
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
    for (const { length, kind } of runs.slice(same)) fresh.append(nodeOf(code.slice(at, (at += length)), kind));
    this.#rest.before(fresh);
    this.#runs = runs;
    this.#rest.data = this.#code.slice(code.length);
  }
}

function nodeOf(text: string, kind: Run['kind']): Node {
  if (kind === null) return new Text(text);
  return Object.assign(document.createElement('span'), { className: `code-${kind}`, textContent: text });
}
