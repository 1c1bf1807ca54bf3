import { globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type AST, parse } from 'svelte/compiler';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { getDirection, type Locale, LOCALES } from '../../web/app/i18n/locale.ts';
import { parseTags } from '../../web/app/i18n/parse-tags.ts';

const ROOT = join(import.meta.dirname, '../..');
const locales = Object.keys(LOCALES);

/** Plain, or one text for each plural form. */
type Message = string | [{ declarations: string[]; selectors: string[]; match: Record<string, string> }];
type Messages = Record<string, Message>;

const readJson = (path: string): unknown => JSON.parse(readFileSync(join(ROOT, path), 'utf8'));
const areas = globSync('web/{app,features,kit}/**/messages/**/en.json', { cwd: ROOT }).map(dirname).sort();
const english = (area: string): Messages => readJson(`${area}/en.json`) as Messages;

const toTexts = (message: Message): string[] =>
  typeof message === 'string' ? [message] : message.flatMap(({ match }) => Object.values(match));
const findPlaceholders = (text: string): string[] => [...text.matchAll(/(?<!\\)\{(\w+)\}/g)].map(([, name = '']) => name);
const findTags = (text: string): string[] => parseTags(text).flatMap(({ tag }) => tag ?? []);
const collectUnique = (message: Message, read: (text: string) => string[]): string[] => [...new Set(toTexts(message).flatMap(read))].sort();

/** The error in a translation; null if it is complete. */
function findTranslationFault(key: string, from: Message, to: Message | undefined, locale: string): string | null {
  if (to === undefined) return `${key} is missing`;
  if (toTexts(to).some((text) => text.trim() === '')) return `${key} is empty`;
  if (collectUnique(from, findTags).join() !== collectUnique(to, findTags).join()) return `${key} has other tags`;
  if (typeof from === 'string') {
    if (typeof to !== 'string') return null;
    return collectUnique(from, findPlaceholders).join() === collectUnique(to, findPlaceholders).join() ? null : `${key} has other places`;
  }
  const inputs = from[0].declarations.flatMap((line) => /^(?:input|local) (\w+)/.exec(line)?.[1] ?? []);
  const strange = collectUnique(to, findPlaceholders).filter((name) => !inputs.includes(name));
  if (strange.length > 0) return `${key} has places that are not there: ${strange.join(', ')}`;
  if (typeof to === 'string') return `${key} has no plural forms`;
  const counts = from[0].declarations.filter((line) => line.includes(': plural')).flatMap((line) => /^local (\w+)/.exec(line)?.[1] ?? []);
  const forms = new Intl.PluralRules(locale).resolvedOptions().pluralCategories;
  for (const count of counts)
    for (const form of forms) {
      const hasForm = Object.keys(to[0].match).some((match) =>
        match.split(',').some((part) => [`${count}=${form}`, `${count}=*`].includes(part.trim())),
      );
      if (!hasForm) return `${key} does not say ${count}=${form}`;
    }
  return null;
}

describe('the messages of every language', () => {
  it.each(areas)('have a file for each locale in %s', (area) => {
    expect(globSync('*.json', { cwd: join(ROOT, area) }).sort()).toEqual(locales.map((locale) => `${locale}.json`).sort());
  });

  it('have one key each', () => {
    const keys = areas.flatMap((area) => Object.keys(english(area)));
    expect(keys.filter((key, at) => keys.indexOf(key) !== at)).toEqual([]);
  });

  it.each(locales)('are complete in %s', (locale) => {
    const faults = areas.flatMap((area) => {
      const [from, to] = [english(area), readJson(`${area}/${locale}.json`) as Messages];
      const obsoleteKeys = Object.keys(to).filter((key) => key !== '$schema' && !(key in from));
      return [
        ...Object.entries(from).flatMap(([key, message]) => findTranslationFault(key, message, to[key], locale) ?? []),
        ...obsoleteKeys.map((key) => `${key} is not in English`),
      ].map((fault) => `${area}: ${fault}`);
    });
    expect(faults).toEqual([]);
  });

  it('keep code as written, in a right-to-left sentence', () => {
    const toRtl = locales.filter((locale) => getDirection(locale as Locale) === 'rtl');
    expect(toRtl).toContain('ar');
    expect(findBidiFaults('تبدأ بـ wss://، و‎/v1‎ و<code>--bind</code> وهي https://example.org/x.')).toEqual(['wss://']);
    const found = toRtl.flatMap((locale) =>
      areas.flatMap((area) =>
        Object.entries(readJson(`${area}/${locale}.json`) as Messages).flatMap(([key, message]) =>
          toTexts(message).flatMap((text) => findBidiFaults(text).map((code) => `${key}: ${code}`)),
        ),
      ),
    );
    expect(found).toEqual([]);
  });
});

/**
 * Addresses, paths and switches that begin or end with punctuation: in right-to-left text it is shown at the other end (`//:https`), unless
 * a left-to-right mark is next to it.
 */
function findBidiFaults(text: string): string[] {
  const outside = text.replace(/<code>.*?<\/code>|<\/?\w+>|\{\w+\}/g, ' ');
  return outside.match(/(?<![\u200e\u2066\p{L}\p{N}/.])(?:[/~.#$]|--)[a-z]\S*|[a-z]\S*[/…](?=[\s.،؛)]|$)/giu) ?? [];
}

/** Attributes that people read or hear. */
const READ_ATTRIBUTES = new Set([
  'alt',
  'aria-label',
  'aria-description',
  'aria-roledescription',
  'aria-valuetext',
  'label',
  'placeholder',
  'title',
  'heading',
  'about',
  'text',
  'hint',
]);
/** Names, and texts that are the same in every language. */
const UNTRANSLATED_NAMES =
  /^(?:· Perch|none|exec|perch gateway run|perch backup export|npx -y @modelcontextprotocol\/server-filesystem \.|file_\*\s+web_fetch|sources\/diary\.md|entities\/Miso|Hugging Face|ModelScope|JSON Lines|Perch|MCP|OpenAI|Ollama|LM Studio|Telegram|X|API|URL|JSON|CSV|HTML|SVG|PNG|GGUF|Markdown|Mermaid|KaTeX|https?:\S*|[\w.-]+\.(?:json|md|ts|svg))$/;

/** Text of a component that is not a message, and so is not translated. */
function findRawTexts(source: string): string[] {
  const found: string[] = [];
  const say = (text: string): void => {
    const words = text.trim();
    if (/\p{L}{2}/u.test(words) && !UNTRANSLATED_NAMES.test(words)) found.push(words.replace(/\s+/g, ' '));
  };
  const look = (node: unknown, inCode = false): void => {
    if (Array.isArray(node)) return node.forEach((each) => look(each, inCode));
    if (typeof node !== 'object' || node === null) return;
    const { type, name } = node as { type?: string; name?: string };
    if (type === 'Text' && !inCode) say((node as AST.Text).data);
    if (type === 'Attribute') {
      const { value } = node as AST.Attribute;
      if (!READ_ATTRIBUTES.has(name ?? '') || value === true) return;
      return [value].flat().forEach((part) => (part.type === 'Text' ? say(part.data) : look(part.expression, inCode)));
    }
    if (['Script', 'StyleSheet', 'StyleDirective', 'Comment'].includes(type ?? '')) return;
    const code = inCode || (type === 'RegularElement' && ['code', 'pre', 'kbd', 'style', 'script'].includes(name ?? ''));
    for (const [key, value] of Object.entries(node)) if (key !== 'metadata' && typeof value === 'object') look(value, code);
  };
  look(parse(source, { modern: true }).fragment);
  return found;
}

/** Names, and what no person reads. */
const IGNORED_TEXTS = /^(?:Português \(Brasil\)|The gateway couldn’t start)$/;

/**
 * Texts of a script that are not messages: sentences, or arguments of something that is shown or read aloud. Errors for programmers
 * (TypeError, RangeError) are exempt.
 */
function findRawTextsInScript(source: string): string[] {
  const found: string[] = [];
  const look = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node) || ts.isTypeNode(node)) return;
    if (ts.isNewExpression(node) && ['TypeError', 'RangeError'].includes(node.expression.getText())) return;
    if (ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)) {
      const text = ts.isTemplateExpression(node)
        ? node.head.text + node.templateSpans.map(({ literal }) => `…${literal.text}`).join('')
        : node.text;
      const sentence = /^\p{Lu}[\p{L}’']*,?\s+\p{L}/u.test(text) || /^\p{L}[^]*\p{Ll}\s+\p{L}[^]*[.!?]$/u.test(text);
      const { parent } = node;
      const isReadAloud =
        (ts.isPropertyAssignment(parent) && READ_ATTRIBUTES.has(parent.name.getText().replace(/'/g, ''))) ||
        (ts.isCallExpression(parent) &&
          ts.isStringLiteral(parent.arguments[0] ?? parent) &&
          READ_ATTRIBUTES.has((parent.arguments[0] as ts.StringLiteral).text));
      const word = /\p{Ll}{2}/u.test(text) && !READ_ATTRIBUTES.has(text);
      if ((sentence || (isReadAloud && word)) && !IGNORED_TEXTS.test(text) && !UNTRANSLATED_NAMES.test(text)) found.push(text);
    }
    ts.forEachChild(node, look);
  };
  look(ts.createSourceFile('script.ts', source, ts.ScriptTarget.Latest, true));
  return found;
}

describe('texts of components', () => {
  it('finds text that is not a message', () => {
    const source = '<p title="Some words">More words, {m.x()} <code>perch gateway run</code></p><style>p{color:red}</style>';
    expect(findRawTexts(source)).toEqual(['Some words', 'More words,']);
  });

  it('finds text of a script that is not a message', () => {
    const source =
      "import a from 'a b'; say('Not a message'); const x = { title: 'Word', id: 'word' }; e.setAttribute('aria-label', 'thing'); throw new TypeError('No such thing');";
    expect(findRawTextsInScript(source)).toEqual(['Not a message', 'Word', 'thing']);
  });

  it('is a message in scripts too', () => {
    const scripts = ['web/app', 'web/features', 'web/kit', 'web/routes']
      .flatMap((folder) => readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`))
      .filter((file) => /\.(?:ts|svelte)$/.test(file) && !/\.test\.ts$|^web\/kit\/icons\/|routes\/host/.test(file));
    const found = scripts.flatMap((file) => {
      const source = readFileSync(join(ROOT, file), 'utf8');
      const script = file.endsWith('.ts')
        ? source
        : [...source.matchAll(/<script[^>]*>([^]*?)<\/script>/g)].map(([, code]) => code).join('\n');
      return findRawTextsInScript(script).map((text) => `${file}: ${text}`);
    });
    expect(found).toEqual([]);
  });

  const files = ['web/app', 'web/features', 'web/kit', 'web/routes']
    .flatMap((folder) => readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`))
    .filter((file) => file.endsWith('.svelte') && !file.startsWith('web/kit/icons') && !file.includes('routes/host'));

  it('has no message that nothing says', () => {
    const scripts = ['web/app', 'web/features', 'web/kit', 'web/routes'].flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
        .filter((file) => /\.(svelte|ts)$/.test(file))
        .map((file) => readFileSync(join(ROOT, folder, file), 'utf8')),
    );
    const usedKeys = new Set(scripts.flatMap((script) => [...script.matchAll(/\bm\.(\w+)/g)].map(([, key]) => key)));
    expect(areas.flatMap((area) => Object.keys(english(area))).filter((key) => !usedKeys.has(key))).toEqual([]);
  });

  it('is a message everywhere', () => {
    const found = files.flatMap((file) => findRawTexts(readFileSync(join(ROOT, file), 'utf8')).map((text) => `${file}: ${text}`));
    expect(found).toEqual([]);
  });
});
