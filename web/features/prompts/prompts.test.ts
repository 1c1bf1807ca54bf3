import { describe, expect } from 'vitest';
import { verifies } from '../../../tests/requirements.ts';
import { exportPrompts, parsePrompts } from './prompt-exchange.ts';
import { getDefaultVariables } from '#app/state/default-variables.ts';
import { findUserVariables, findAppVariables, fillPrompt, findVariables, hasAppVariable } from '#shared/prompts/prompt-variables.ts';
import { createFreePromptName, findPrompts, validatePromptName } from '#app/state/prompt-names.ts';
import { type Prompt } from '#shared/prompts/prompt.ts';
import { parsePrompt, formatPromptFile, parsePromptName } from '#shared/prompts/prompt-file.ts';

const prompt = (name: string, more: Partial<Prompt> = {}): Prompt => ({ name, title: name, description: '', text: 'Do it.', ...more });

describe('prompts', () => {
  verifies('prompts.app/files', 'what is written is read again, whatever it has in it', () => {
    const odd = [
      prompt('a', { title: 'With: a colon, "quotes" and # more', description: '- no list', text: '---\nA line like the head’s\n---\n' }),
      prompt('b', { title: 'true', description: '2026-01-01', text: '\n\n  Spaces and lines stay.  \n\n' }),
      prompt('صباح', { title: 'صباح الخير', text: 'اكتب {{الاسم}} 🐦' }),
      prompt('c', { title: 'x'.repeat(200), text: '{{a}} $& $1 `{{b}}`' }),
    ];
    for (const each of odd) expect(parsePrompt(each.name, formatPromptFile(each))).toEqual(each);
  });

  verifies('prompts.app/files', 'files that others wrote: no front matter, broken, of other types; names that can be none', () => {
    expect(parsePrompt('plain', 'Only text')).toEqual({ name: 'plain', title: 'plain', description: '', text: 'Only text' });
    expect(parsePrompt('broken', '---\ntitle: [\n---\nText')).toMatchObject({ title: 'broken', text: 'Text' });
    expect(parsePrompt('list', '---\n- a\n---\nText')).toMatchObject({ title: 'list', text: 'Text' });
    expect(parsePrompt('number', '---\ntitle: 5\n---\r\nText')).toMatchObject({ title: '5', text: 'Text' });
    expect(parsePrompt('unseen', '---\ntitle: "\\u200b\\u2060"\n---\nText')).toMatchObject({ title: 'unseen' });
    expect(parsePrompts(JSON.stringify([{ command: '/a', title: '\u200b', content: 'x' }])).prompts).toMatchObject([{ title: 'a' }]);
    const bomb = `---\na: &a [x, x]\ntitle: [${'*a, '.repeat(50)}]\n---\nText`;
    expect(parsePrompt('bomb', bomb)).toMatchObject({ title: 'bomb', text: 'Text' });
    const paths = ['prompts/a.md', 'prompts/a.txt', 'prompts/.md', 'prompts/sub/a.md', 'prompts/a b.md', 'notes/a.md', 'prompts/-a.md'];
    expect(paths.map(parsePromptName)).toEqual(['a', null, null, null, null, null, null]);
  });

  verifies('prompts.app/variables', 'each asked once, in order; the app’s own and Open WebUI’s kinds are known', () => {
    const text =
      '{{who}} {{ what to say }} {{who}} {{date}} {{CURRENT_TIME}} {{Clipboard}} {{size | select:options=["a","b"]}} {{}} {who} {{a{b}}';
    expect(findVariables(text)).toEqual(['who', 'what to say', 'date', 'CURRENT_TIME', 'Clipboard', 'size']);
    expect(findUserVariables(text)).toEqual(['who', 'what to say', 'size']);
    expect(findAppVariables(text)).toEqual(['date', 'CURRENT_TIME', 'Clipboard']);
    expect([hasAppVariable(text, 'clipboard'), hasAppVariable('{{date}}', 'clipboard')]).toEqual([true, false]);
    const own = getDefaultVariables(new Date(2026, 0, 2, 15, 4));
    expect(own).toEqual({ date: 'January 2, 2026', time: '15:04' });
    expect(fillPrompt('{{date}}, {{CURRENT_TIME}}, {{constructor}}', new Map(Object.entries(own)))).toBe(
      'January 2, 2026, 15:04, {{constructor}}',
    );
  });

  verifies('prompts.app/variables', 'values go in as they are: no variable in them is filled, no sign of a replacement counts', () => {
    const values = new Map([
      ['a', '{{b}} $& $1'],
      ['b', 'B'],
    ]);
    expect(fillPrompt('{{a}}-{{ b }}-{{a}}', values)).toBe('{{b}} $& $1-B-{{b}} $& $1');
    expect(fillPrompt('{{a}}', new Map([['a', '']]))).toBe('');
    const long = `${'{{'.repeat(50_000)}a`;
    expect(fillPrompt(long, values)).toBe(long);
  });

  verifies('prompts.app/slash', 'what is typed finds by the name’s beginning first, then by words', () => {
    const all = [
      prompt('answer', { title: 'Answer a letter' }),
      prompt('letter-long', { title: 'Long' }),
      prompt('sum-up', { title: 'Sum up' }),
    ];
    const findNames = (typed: string): string[] => findPrompts(all, typed).map(({ name }) => name);
    expect(findNames('')).toEqual(['answer', 'letter-long', 'sum-up']);
    expect(findNames('LET')).toEqual(['letter-long', 'answer']);
    expect(findNames('up')).toEqual(['sum-up']);
    expect(findNames('ong')).toEqual([]);
    expect(findNames('tool')).toEqual([]);
  });

  verifies('prompts.app/slash', 'names are words of any script, and are free ones where they are made', () => {
    expect(['sum-up', 'été', '会議', 'a_1'].map(validatePromptName)).toEqual([null, null, null, null]);
    for (const wrong of ['', 'a b', '-a', 'a/b', '../a', 'a.md', 'x'.repeat(65)]) expect(validatePromptName(wrong), wrong).not.toBeNull();
    expect(createFreePromptName('Sum up: a text!', new Set(['sum-up-a-text']))).toBe('sum-up-a-text-2');
    expect(createFreePromptName('…', new Set())).toBe('prompt');
    for (const words of ['- x', '../etc', 'É', 'x'.repeat(300)])
      expect(validatePromptName(createFreePromptName(words, new Set())), words).toBeNull();
  });

  verifies('prompts.app/exchange', 'an export comes back whole; both shapes of Open WebUI’s are read', () => {
    const all = [prompt('a', { title: 'A', description: 'About', text: 'One {{two}}' }), prompt('b')];
    expect(parsePrompts(exportPrompts(all))).toEqual({ prompts: all, problems: [] });
    const theirs = [
      { command: '/help me', user_id: 'x', title: 'Help', content: 'Help {{me}}', timestamp: 1_700_000_000 },
      { id: 'y', command: 'Newer', name: 'A newer one', content: 'Text', access_control: null, tags: [] },
    ];
    expect(parsePrompts(JSON.stringify(theirs)).prompts).toEqual([
      prompt('help-me', { title: 'Help', text: 'Help {{me}}' }),
      prompt('newer', { title: 'A newer one', text: 'Text' }),
    ]);
  });

  verifies('prompts.app/exchange', 'an invalid, truncated or too large file is refused; prompts without text are reported', () => {
    for (const wrong of ['', '[', '{"a":1}', 'null', '[]', '[{"command":"/a"}]', `${exportPrompts([prompt('a')]).slice(0, -5)}`])
      expect(() => parsePrompts(wrong), wrong).toThrow();
    expect(() => parsePrompts(JSON.stringify(Array.from({ length: 1001 }, () => ({ content: 'x' }))))).toThrow(/1,000/);
    const mixed = parsePrompts(JSON.stringify([{ command: '/a', content: 'Text' }, { command: '/b', content: ' ' }, 5]));
    expect(mixed.prompts.map(({ name }) => name)).toEqual(['a']);
    expect(mixed.problems).toEqual([
      'Prompt 2 was skipped: its text is missing or too long.',
      'Prompt 3 was skipped: its text is missing or too long.',
    ]);
  });
});
