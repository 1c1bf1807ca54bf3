/**
 * A message of a locale file: plain text, or one text for each plural form. Texts hold `{input}`; `\{`, `\}` and `\\` are literal.
 * This is the subset of inlang's message format that Perch uses.
 */
export type Message = string | readonly [{ declarations: readonly string[]; match: Readonly<Record<string, string>> }];
export type Messages = Readonly<Record<string, Message>>;

/** The source of `registry.js`, which the modules of messages import. */
export const REGISTRY_SOURCE = `export const plural = (locale, input, options) => new Intl.PluralRules(locale, options).select(Number(input));
export const number = (locale, input, options) => new Intl.NumberFormat(locale, options).format(Number(input));
`;

interface Declarations {
  inputs: ReadonlySet<string>;
  /** JavaScript for each local variable. */
  locals: ReadonlyMap<string, string>;
}

/** Reads lines such as `input count` and `local n = count: plural type=ordinal`. */
function parseDeclarations(lines: readonly string[], locale: string): Declarations {
  const inputs = new Set<string>();
  const locals = new Map<string, string>();
  for (const line of lines) {
    const [, input] = /^input (\w+)$/.exec(line) ?? [];
    if (input !== undefined) {
      inputs.add(input);
      continue;
    }
    const [, name, source, format, options] = /^local (\w+) = (\w+): (plural|number)((?: \w+=\w+)*)$/.exec(line) ?? [];
    if (name === undefined || source === undefined || !inputs.has(source)) throw new Error(`unknown declaration "${line}"`);
    const pairs = (options ?? '').split(' ').flatMap((option) => (option === '' ? [] : [option.split('=')]));
    locals.set(name, `registry.${format}("${locale}", i?.${source}, ${JSON.stringify(Object.fromEntries(pairs))})`);
  }
  return { inputs, locals };
}

/** Splits a text into literals (even places) and the names of inputs between them (odd places). */
function parseText(text: string): string[] {
  const pieces = [''];
  for (const [token, escaped, name] of text.matchAll(/\\([{}\\])|\{(\w+)\}|[^]/g)) {
    if (name !== undefined) pieces.push(name, '');
    else if (token === '{') throw new Error(`"${text}" has a { that is neither a name in braces nor escaped`);
    else pieces[pieces.length - 1] += escaped ?? token;
  }
  return pieces;
}

const toInputExpression = (name: string): string => `i?.${name}`;

function compileText(text: string, { locals }: Declarations): string {
  const code = parseText(text).map((piece, at) =>
    at % 2 === 1 ? `\${${locals.has(piece) ? piece : toInputExpression(piece)}}` : piece.replaceAll(/[\\`]|\$(?=\{)/g, '\\$&'),
  );
  return `\`${code.join('')}\``;
}

/** JavaScript for `n=one, count=1`; undefined if it always holds. */
function compileCondition(match: string, { inputs, locals }: Declarations): string | undefined {
  const tests = match.split(',').flatMap((part) => {
    const [, name = '', value = ''] = /^\s*(\w+)\s*=\s*(\*|\w+)\s*$/.exec(part) ?? [];
    if (locals.has(name)) return value === '*' ? [] : [`${name} === ${JSON.stringify(value)}`];
    if (!inputs.has(name)) throw new Error(`unknown condition "${match}"`);
    return value === '*' ? [] : [`String(${toInputExpression(name)}) === ${JSON.stringify(value)}`];
  });
  return tests.length === 0 ? undefined : tests.join(' && ');
}

/** The names in braces of a message without declarations. */
const getInputs = (text: string): Set<string> => new Set(parseText(text).filter((_piece, at) => at % 2 === 1));

function compileMessage(key: string, message: Message, locale: string): string {
  if (typeof message === 'string') {
    const inputs = getInputs(message);
    return `${inputs.size > 0 ? '(i)' : '()'} => ${compileText(message, { inputs, locals: new Map() })}`;
  }
  const [{ declarations, match }] = message;
  const names = parseDeclarations(declarations, locale);
  const returns = Object.entries(match).map(([when, text]) => ({ test: compileCondition(when, names), code: compileText(text, names) }));
  const lines = returns.map(({ test, code }) => `${test === undefined ? '' : `if (${test}) `}return ${code};`);
  const body = [...lines, ...(returns.some(({ test }) => test === undefined) ? [] : [`return ${JSON.stringify(key)};`])].join('\n');
  const used = [...names.locals].filter(([name]) => new RegExp(`\\$\\{${name}\\}|\\b${name} ===`).test(body));
  return `(i) => {\n${[...used.map(([name, code]) => `const ${name} = ${code};`), body].join('\n')}\n}`;
}

/** Runs a compilation of one message, and names the message in its error. */
function withKeyInError<T>(key: string, compile: () => T): T {
  try {
    return compile();
  } catch (error) {
    throw new Error(`message ${key}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

/**
 * The module of a locale: its messages as functions in one object. With an export for each message, a build whose pages choose among
 * languages would name every message three times. A message that the locale lacks is said in English.
 */
export function compileLocale(locale: string, messages: Messages, english: Messages): string {
  const functions = Object.entries(english).map(([key, fallback]) => {
    const own = messages[key];
    return `${key}: ${withKeyInError(key, () => (own === undefined ? compileMessage(key, fallback, 'en') : compileMessage(key, own, locale)))},\n`;
  });
  return `import * as registry from "../registry.js";\nexport default {\n${functions.join('')}};\n`;
}

/** Type declarations of that module, the same for every locale. */
export function declareMessages(english: Messages): string {
  const lines = Object.entries(english).map(([key, message]) => {
    const inputs = withKeyInError(key, () =>
      typeof message === 'string' ? getInputs(message) : parseDeclarations(message[0].declarations, 'en').inputs,
    );
    return `  ${key}: (inputs: {${[...inputs].map((name) => ` ${name}: NonNullable<unknown>;`).join('')} }) => string;\n`;
  });
  return `declare const messages: {\n${lines.join('')}};\nexport default messages;\n`;
}
