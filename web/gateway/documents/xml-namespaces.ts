/**
 * Prefixes that readers use for the namespaces of EPUB and Office files; of the latter, those of both the transitional edition of the
 * standard (ECMA-376, part 4) and the strict one.
 */
const PREFIXES: ReadonlyMap<string, string> = new Map(
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
)
  .set('http://purl.org/dc/elements/1.1/', 'dc')
  .set('http://www.idpf.org/2007/opf', '')
  .set('urn:oasis:names:tc:opendocument:xmlns:container', '');

/** Prefixes in the file by those that readers use; identical ones are omitted. */
type NamespaceScope = ReadonlyMap<string, string>;

/**
 * Maps names of elements and attributes to the prefixes that readers use: a file may choose its own prefixes, and some programs do (`x:row`
 * for `row`).
 */
export class XmlNamespaces {
  readonly #scopes: NamespaceScope[] = [];

  /** Enters an element. */
  open(name: string, attributes: Readonly<Record<string, string>>): [name: string, attributes: Readonly<Record<string, string>>] {
    const scope = readDeclarations(this.#scopes.at(-1) ?? new Map(), attributes);
    this.#scopes.push(scope);
    if (scope.size === 0) return [name, attributes];
    const entries = Object.entries(attributes).map(([key, value]): [string, string] => [
      key.includes(':') ? resolveName(key, scope) : key,
      value,
    ]);
    return [resolveName(name, scope), Object.fromEntries(entries)];
  }

  /** Leaves an element. */
  close(name: string): string {
    const scope = this.#scopes.pop();
    return scope && scope.size > 0 ? resolveName(name, scope) : name;
  }
}

function readDeclarations(outer: NamespaceScope, attributes: Readonly<Record<string, string>>): NamespaceScope {
  let scope: Map<string, string> | undefined;
  // Called for each cell of a sheet: allocates nothing for elements without declarations.
  for (const key in attributes) {
    if (!key.startsWith('xmlns') || (key.length > 5 && key[5] !== ':')) continue;
    const [prefix, knownPrefix] = [key.slice('xmlns:'.length), PREFIXES.get(attributes[key] ?? '')];
    if (knownPrefix !== undefined && knownPrefix !== prefix) (scope ??= new Map(outer)).set(prefix, knownPrefix);
    else if (outer.has(prefix)) (scope ??= new Map(outer)).delete(prefix);
  }
  return scope ?? outer;
}

function resolveName(name: string, scope: NamespaceScope): string {
  const colon = name.indexOf(':');
  const knownPrefix = scope.get(name.slice(0, Math.max(0, colon)));
  if (knownPrefix === undefined) return name;
  const local = name.slice(colon + 1);
  return knownPrefix === '' ? local : `${knownPrefix}:${local}`;
}
