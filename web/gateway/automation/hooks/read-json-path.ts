/** Maximum number of values that one path finds. */
const MAX_VALUES = 50;

type Step = string | number | typeof ANY;
const ANY = Symbol('*');

const STEP = /\.([A-Za-z_$][\w$-]*)|\[(\d{1,6})\]|\[\*\]|\["((?:[^"\\]|\\.)*)"\]|\['((?:[^'\\]|\\.)*)'\]/y;

/**
 * Parses a path of RFC 9535 with names, indexes and `[*]`, such as `$.commits[*].author["name"]`; undefined if it has another form. A
 * hyphen may be part of a name without quotes.
 */
function parseJsonPath(path: string): Step[] | undefined {
  if (!path.startsWith('$')) return undefined;
  const steps: Step[] = [];
  STEP.lastIndex = 1;
  while (STEP.lastIndex < path.length) {
    const found = STEP.exec(path);
    if (!found) return undefined;
    const [, name, index, double, single] = found;
    const quoted = double ?? single;
    if (index !== undefined) steps.push(Number(index));
    else if (name !== undefined) steps.push(name);
    else steps.push(quoted === undefined ? ANY : quoted.replace(/\\(.)/g, '$1'));
  }
  return steps;
}

/** Whether a text is a path that `readJsonPath` understands. */
export const isJsonPath = (path: string): boolean => parseJsonPath(path) !== undefined;

/** The values at a path, at most 50; empty if nothing is there. */
export function readJsonPath(root: unknown, path: string): unknown[] {
  let values: unknown[] = [root];
  for (const step of parseJsonPath(path) ?? []) {
    values = values.flatMap((value) => readStep(value, step)).slice(0, MAX_VALUES);
  }
  return values;
}

function readStep(value: unknown, step: Step): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  if (step === ANY) return Object.values(value);
  if (Array.isArray(value)) return typeof step === 'number' && step < value.length ? [value[step]] : [];
  return Object.hasOwn(value, String(step)) ? [(value as Record<string, unknown>)[String(step)]] : [];
}
