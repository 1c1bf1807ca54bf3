import { m } from '../../i18n/messages.ts';
import { parseFormula, type Formula } from './formula.ts';

/** Maximum length of a formula in UTF-16 units; longer ones stay as source. */
const MAX_FORMULA_CHARS = 10_000;
/** Maximum cells of matrices and lines in a formula, each of which becomes a box; formulas with more stay as source. */
const MAX_CELLS = 400;
/** Maximum formulas per block, each of which has some fifty elements; later ones stay as source. */
const MAX_FORMULAS = 500;
/** Maximum rendered formulas to cache, since a growing paragraph shows them again and again. */
const MAX_CACHED = 300;

type Typeset = (formula: Formula) => HTMLElement | null;

let typeset: Typeset | undefined;
let loadingTypeset: Promise<void> | undefined;
const cache = new Map<string, HTMLElement | null>();

const loadTypeset = (): Promise<void> =>
  (loadingTypeset ??= import('./typeset.ts').then(
    (module) => void (typeset = module.typeset),
    // Offline, for example: the source stays, and the next formula tries again.
    () => void (loadingTypeset = undefined),
  ));

/** Renders the formulas in `fragment`, whose elements contain their source: at once if KaTeX is loaded, otherwise when it has loaded. */
export function renderMath(fragment: DocumentFragment): void {
  const elements = [...fragment.querySelectorAll<HTMLElement>('span.math')].slice(0, MAX_FORMULAS);
  const formulas = elements.flatMap((element) => {
    const source = element.textContent;
    const isLarge = source.length > MAX_FORMULA_CHARS || source.split(/&|\\\\/, MAX_CELLS + 1).length > MAX_CELLS;
    const formula = isLarge ? null : parseFormula(source);
    return formula ? [{ element, formula }] : [];
  });
  if (formulas.length === 0) return;
  const show = (): void => formulas.forEach(({ element, formula }) => renderFormula(element, formula));
  if (typeset) show();
  else void loadTypeset().then(show);
}

function renderFormula(element: HTMLElement, formula: Formula): void {
  const set = renderCached(formula);
  if (!set) return;
  element.replaceChildren(set.cloneNode(true));
  if (!formula.display) return;
  element.classList.add('display');
  // Scrollable content must be reachable by keyboard.
  element.tabIndex = 0;
  element.setAttribute('role', 'group');
  element.setAttribute('aria-label', m.reply_formula());
}

function renderCached(formula: Formula): HTMLElement | null {
  const key = `${formula.display} ${formula.tex}`;
  let set = cache.get(key);
  if (set === undefined) set = typeset?.(formula) ?? null;
  if (!typeset) return null;
  cache.delete(key);
  cache.set(key, set);
  const [oldest] = cache.keys();
  if (cache.size > MAX_CACHED && oldest !== undefined) cache.delete(oldest);
  return set;
}
