import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import { compileEnglish, compileLocale, declareMessages, type Message, type Messages, toAreaName } from './compile-messages.ts';

type CompiledMessage = (inputs?: Record<string, string | number>) => string;
type CompiledMessages = Record<string, CompiledMessage>;

const RUNTIME_URL = pathToFileURL(join(import.meta.dirname, 'app/i18n/message-areas.ts')).href;

function importCode(code: string): Promise<unknown> {
  const resolved = code.replaceAll(/'[./]+\/web\/app\/i18n\/message-areas\.ts'/g, `'${RUNTIME_URL}'`);
  return import(`data:text/javascript,${encodeURIComponent(resolved)}`);
}

const compile = async (english: Messages): Promise<CompiledMessages> =>
  (await importCode(compileEnglish('area', english))) as CompiledMessages;

/** The messages after those of another language have replaced them. */
async function compileTranslated(english: Messages, locale: string, messages: Messages): Promise<CompiledMessages> {
  const compiled = await compile(english);
  const { default: translated } = (await importCode(compileLocale(locale, messages, english))) as { default: CompiledMessage[] };
  const { loadedAreas } = (await importCode(`export { loadedAreas } from '${RUNTIME_URL}';`)) as {
    loadedAreas: Map<string, (messages: CompiledMessage[]) => void>;
  };
  loadedAreas.get('area')?.(translated);
  return compiled;
}

const COUNT_MESSAGE: Message = [
  {
    declarations: ['input count', 'input name', 'local n = count: plural', 'local shown = count: number'],
    match: { 'count=0, n=*': '{name} has no chats', 'n=one': '{name} has one chat', 'n=other': '{name} has {shown} chats' },
  },
];

describe('a compiled message', () => {
  it('compiles plain text, inputs, and escapes', async () => {
    const compiled = await compile({
      plain: 'New chat',
      inputs: '{name} sent {size} to {name}',
      braces: String.raw`\{\{topic\}\} and \\ and \n`,
      code: 'a `tick`, ${dollar} and $',
    });
    expect(Object.keys(compiled).sort()).toEqual(['braces', 'code', 'inputs', 'plain']);
    expect(compiled['plain']?.()).toBe('New chat');
    expect(compiled['inputs']?.({ name: 'Ana', size: 3 })).toBe('Ana sent 3 to Ana');
    expect(compiled['braces']?.()).toBe(String.raw`{{topic}} and \ and \n`);
    expect(compiled['code']?.({ dollar: 'money' })).toBe('a `tick`, $money and $');
  });

  it('has a form for each count, and the key if no form fits', async () => {
    const { count } = await compile({ count: COUNT_MESSAGE });
    const format = (number: number | string): string | undefined => count?.({ count: number, name: 'Ana' });
    expect([format(0), format('0'), format(1), format(2), format(1234)]).toEqual([
      'Ana has no chats',
      'Ana has no chats',
      'Ana has one chat',
      'Ana has 2 chats',
      'Ana has 1,234 chats',
    ]);
    const { unfit } = await compile({ unfit: [{ declarations: ['input count', 'local n = count: plural'], match: { 'n=one': 'one' } }] });
    expect(unfit?.({ count: 2 })).toBe('unfit');
  });

  it('has ordinal forms', async () => {
    const declarations = ['input day', 'local n = day: plural type=ordinal'];
    const { day } = await compile({ day: [{ declarations, match: { 'n=two': '{day}nd', 'n=other': '{day}th' } }] });
    expect([day?.({ day: 22 }), day?.({ day: 12 })]).toEqual(['22nd', '12th']);
  });

  it('follows the rules of its language, and is English if its language lacks it', async () => {
    const polish: Messages = {
      files: [
        {
          declarations: ['input count', 'local n = count: plural', 'local shown = count: number'],
          match: { 'n=one': '{shown} plik', 'n=few': '{shown} pliki', 'n=many': '{shown} plików', 'n=other': '{shown} pliku' },
        },
      ],
    };
    const { files, count } = await compileTranslated({ files: '{count} files', count: COUNT_MESSAGE }, 'pl', polish);
    expect([1, 3, 5, 1.5].map((number) => files?.({ count: number }))).toEqual(['1 plik', '3 pliki', '5 plików', '1,5 pliku']);
    expect(count?.({ count: 1, name: 'Ana' })).toBe('Ana has one chat');
  });

  it.each<[string, Message]>([
    ['neither a name in braces nor escaped', 'Braces { alone'],
    ['unknown declaration "local n = other: plural"', [{ declarations: ['input count', 'local n = other: plural'], match: {} }]],
    ['unknown declaration "local n = count: list"', [{ declarations: ['input count', 'local n = count: list'], match: {} }]],
    ['unknown condition "k=one"', [{ declarations: ['input count', 'local n = count: plural'], match: { 'k=one': 'One' } }]],
  ])('is refused by its name: %s', (reason, message) => {
    expect(() => compileEnglish('area', { bad: message })).toThrow(`message bad: `);
    expect(() => compileLocale('de', { bad: message }, { bad: message })).toThrow(reason);
  });
});

it('declares what each message takes', () => {
  expect(declareMessages({ plain: 'New chat', inputs: '{name} sent {size} to {name}', count: COUNT_MESSAGE })).toBe(
    [
      'export declare let plain: () => string;',
      'export declare let inputs: (inputs: { readonly name: string | number; readonly size: string | number }) => string;',
      'export declare let count: (inputs: { readonly count: string | number; readonly name: string | number }) => string;\n',
    ].join('\n'),
  );
});

it('names an area by its folder', () => {
  expect(['web/features/chat/messages', 'features/chat/messages/reply', 'kit/messages', 'app/trust/messages'].map(toAreaName)).toEqual([
    'chat',
    'chat-reply',
    'kit',
    'app-trust',
  ]);
});
