/**
 * Prefixes that readers use for the namespaces of Office files, of both the transitional edition of the standard (ECMA-376, part 4) and the
 * strict one.
 */
const KNOWN: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'wordprocessingml/2006/main': 'w',
    'spreadsheetml/2006/main': '',
    'presentationml/2006/main': 'p',
    'drawingml/2006/main': 'a',
    'drawingml/2006/chart': 'c',
    'drawingml/2006/diagram': 'dgm',
    'drawingml/2006/wordprocessingDrawing': 'wp',
    'officeDocument/2006/relationships': 'r',
    'officeDocument/2006/math': 'm',
    'package/2006/relationships': '',
    'markup-compatibility/2006': 'mc',
  }).flatMap(([name, prefix]): [string, string][] => [
    [`http://schemas.openxmlformats.org/${name}`, prefix],
    [`http://purl.oclc.org/ooxml/${name.replace('/2006', '')}`, prefix],
  ]),
).set('http://purl.org/dc/elements/1.1/', 'dc');

/** Prefixes in the file by those that readers use; identical ones are omitted. */
type Scope = ReadonlyMap<string, string>;

/**
 * Maps names of elements and attributes to the prefixes that readers use: a file may choose its own prefixes, and some programs do (`x:row`
 * for `row`).
 */
export class XmlNames {
  readonly #scopes: Scope[] = [];

  /** Enters an element. */
  opened(name: string, attributes: Readonly<Record<string, string>>): [name: string, attributes: Readonly<Record<string, string>>] {
    const scope = declared(this.#scopes.at(-1) ?? new Map(), attributes);
    this.#scopes.push(scope);
    if (scope.size === 0) return [name, attributes];
    const entries = Object.entries(attributes).map(([key, value]): [string, string] => [
      key.includes(':') ? named(key, scope) : key,
      value,
    ]);
    return [named(name, scope), Object.fromEntries(entries)];
  }

  /** Leaves an element. */
  closed(name: string): string {
    const scope = this.#scopes.pop();
    return scope && scope.size > 0 ? named(name, scope) : name;
  }
}

function declared(outer: Scope, attributes: Readonly<Record<string, string>>): Scope {
  let scope: Map<string, string> | undefined;
  // Called for each cell of a sheet: allocates nothing for elements without declarations.
  for (const key in attributes) {
    if (!key.startsWith('xmlns') || (key.length > 5 && key[5] !== ':')) continue;
    const [prefix, known] = [key.slice('xmlns:'.length), KNOWN.get(attributes[key] ?? '')];
    if (known !== undefined && known !== prefix) (scope ??= new Map(outer)).set(prefix, known);
    else if (outer.has(prefix)) (scope ??= new Map(outer)).delete(prefix);
  }
  return scope ?? outer;
}

function named(name: string, scope: Scope): string {
  const colon = name.indexOf(':');
  const known = scope.get(name.slice(0, Math.max(0, colon)));
  if (known === undefined) return name;
  const local = name.slice(colon + 1);
  return known === '' ? local : `${known}:${local}`;
}
