import { m } from '#lib/i18n/later.ts';
import { formulaOf, type Formula } from './formula.ts';

/** Longer formulas are shown as they are written. UTF-16 units. */
const MOST_CHARS = 10_000;
/** Maximum cells of matrices and lines in a formula, each of which becomes a box; formulas with more stay as source. */
const MOST_CELLS = 400;
/** Maximum formulas per block, each of which has some fifty elements; later ones stay as source. */
const MOST_FORMULAS = 500;
/** Maximum rendered formulas to cache, since a growing paragraph shows them again and again. */
const KEPT = 300;

type Typeset = (formula: Formula) => HTMLElement | null;

let typeset: Typeset | undefined;
let loading: Promise<void> | undefined;
const kept = new Map<string, HTMLElement | null>();

const load = (): Promise<void> =>
  (loading ??= import('./typeset.ts').then(
    (part) => void (typeset = part.typeset),
    // Without a network: the source stays, and the next formula tries again.
    () => void (loading = undefined),
  ));

/** Renders the formulas in `fragment`, whose elements contain their source: at once if KaTeX is loaded, otherwise when it has loaded. */
export function showMath(fragment: DocumentFragment): void {
  const elements = [...fragment.querySelectorAll<HTMLElement>('span.math')].slice(0, MOST_FORMULAS);
  const formulas = elements.flatMap((element) => {
    const source = element.textContent;
    const isLarge = source.length > MOST_CHARS || source.split(/&|\\\\/, MOST_CELLS + 1).length > MOST_CELLS;
    const formula = isLarge ? null : formulaOf(source);
    return formula ? [{ element, formula }] : [];
  });
  if (formulas.length === 0) return;
  const show = (): void => formulas.forEach(({ element, formula }) => set(element, formula));
  if (typeset) show();
  else void load().then(show);
}

function set(element: HTMLElement, formula: Formula): void {
  const set = setOnce(formula);
  if (!set) return;
  element.replaceChildren(set.cloneNode(true));
  if (!formula.display) return;
  element.classList.add('display');
  // Scrollable content must be reachable by keyboard.
  element.tabIndex = 0;
  element.setAttribute('role', 'group');
  element.setAttribute('aria-label', m.reply_formula());
}

function setOnce(formula: Formula): HTMLElement | null {
  const key = `${formula.display} ${formula.tex}`;
  let set = kept.get(key);
  if (set === undefined) set = typeset?.(formula) ?? null;
  if (!typeset) return null;
  kept.delete(key);
  kept.set(key, set);
  const [oldest] = kept.keys();
  if (kept.size > KEPT && oldest !== undefined) kept.delete(oldest);
  return set;
}
