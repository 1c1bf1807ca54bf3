import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { expect, test } from 'vitest';
import { type CliGateway, startCliGateway } from '../../bridge/cli/tests/cli-gateway.ts';
import { computeWidth } from '../../bridge/cli/terminal-output.ts';
import { verifies } from '../requirements.ts';
import { createGgufFile } from '../support/gguf-file.ts';
import { startHubServer } from '../support/hub-server.ts';
import { missingTmux, openTerminal, type Terminal, type TerminalOptions } from '../support/tmux.ts';
import { runPerch } from './perch-process.ts';
import { getLongTermMemory } from '../support/long-term-memory.ts';

const CLI_MAIN = join(import.meta.dirname, '../../bridge/cli/main.ts');
const ESC = '\u001b';

const perchIn = (cli: CliGateway, args: readonly string[], options: Partial<TerminalOptions> = {}): Promise<Terminal> =>
  openTerminal({
    command: [process.execPath, CLI_MAIN, ...args, '--port', cli.port],
    ...options,
    env: { PERCH_HOME: cli.bridge.home.dir, ...options.env },
  });

if (missingTmux === undefined) {
  verifies('cli/chat-terminal', 'a reply streams, Ctrl+C ends it, one goes on, and Ctrl+D leaves', async () => {
    const second = Promise.withResolvers<void>();
    await using cli = await startCliGateway({
      model: (_call, count) =>
        count === 1
          ? ['First ', { wait: second.promise }, 'and last.']
          : count === 2
            ? ['Endless', { wait: new Promise(() => {}) }]
            : ['Fine.'],
    });
    await using terminal = await perchIn(cli, ['chat', '--session', 'typed']);
    await terminal.waitForText('main/typed.');
    await terminal.type('hello');
    await terminal.press('Enter');
    // The first piece stands there while the rest is not made yet.
    await terminal.waitForText(/First\s*$/);
    second.resolve();
    await terminal.waitForText('First and last.');
    await terminal.waitForText(/last\.\n›\s*$/);
    await terminal.type('go on');
    await terminal.press('Enter');
    await terminal.waitForText('Endless');
    await terminal.press('C-c');
    await terminal.waitForText(/Stopped\n›\s*$/);
    const { client } = await cli.gw.client();
    const { messages } = await client.call('chat.history', { sessionId: 'typed' });
    expect(messages.at(-1)).toMatchObject({ content: 'Endless', aborted: true });
    // Earlier input is available again.
    await terminal.press('Up', 'Up');
    await terminal.waitForText(/› hello\s*$/);
    await terminal.press('Enter');
    await terminal.waitForText(/Fine\.\n›\s*$/);
    await terminal.press('C-d');
    expect(await terminal.waitForExit()).toBe(0);
  });

  verifies('cli/chat-terminal', 'Ctrl+C twice leaves, at the prompt and while a reply comes', async () => {
    await using cli = await startCliGateway({ model: () => ['Endless', { wait: new Promise(() => {}) }] });
    await using atPrompt = await perchIn(cli, ['chat']);
    await atPrompt.waitForText(/›\s*$/);
    await atPrompt.press('C-c');
    await atPrompt.waitForText(/Press Ctrl\+C again to exit\n›\s*$/);
    await atPrompt.press('C-c');
    expect(await atPrompt.waitForExit()).toBe(0);
    await using inReply = await perchIn(cli, ['chat']);
    await inReply.waitForText(/›\s*$/);
    await inReply.type('hello');
    await inReply.press('Enter');
    await inReply.waitForText('Endless');
    await inReply.press('C-c');
    await inReply.waitForText(/Stopped\n›\s*$/);
    await inReply.press('C-c');
    await inReply.waitForText('Press Ctrl+C again to exit');
    await inReply.press('C-c');
    expect(await inReply.waitForExit()).toBe(0);
  });

  verifies('cli/chat-terminal', 'an approval is asked for in place; one that is given elsewhere is asked for no longer', async () => {
    await using cli = await startCliGateway({
      model: (_call, count) => (count % 2 ? [{ tool: 'memory_add', args: { text: `Tea ${count}` } }] : ['Remembered.']),
    });
    const { client } = await cli.gw.client();
    await client.call('config.set', { key: 'tools.policies', value: { 'memory_*': 'ask' } });
    const memories = async (): Promise<string[]> => (await getLongTermMemory(cli.gw.vault).memories()).map(({ text }) => text);
    await using terminal = await perchIn(cli, ['chat']);
    await terminal.waitForText(/›\s*$/);
    for (const [answer, expectedResult] of [
      ['n', []],
      ['y', ['Tea 3']],
    ] as const) {
      await terminal.type('remember');
      await terminal.press('Enter');
      await terminal.waitForText(/\[N\]o:\s*$/);
      await terminal.type(answer);
      await terminal.press('Enter');
      await terminal.waitForText(/Remembered\.\n›\s*$/);
      expect(await memories()).toEqual(expectedResult);
    }
    await terminal.type('remember');
    await terminal.press('Enter');
    await terminal.waitForText(/\[N\]o:\s*$/);
    const { approvals } = await client.call('approvals.list', {});
    await client.call('approvals.resolve', { id: approvals[0]?.id ?? '', decision: 'approve' });
    await terminal.waitForText(/\[N\]o:\s*\nRemembered\.\s*\n›\s*$/);
    expect(await memories()).toEqual(['Tea 3', 'Tea 5']);
    // Ctrl+C at the question ends the reply.
    await terminal.type('remember');
    await terminal.press('Enter');
    await terminal.waitForText(/\[N\]o:\s*$/);
    await terminal.press('C-c');
    await terminal.waitForText(/Stopped\n›\s*$/);
    expect(await memories()).toEqual(['Tea 3', 'Tea 5']);
  });

  verifies('cli/chat-terminal', 'a connection that was lost is told of, and made again for the next message', async () => {
    await using cli = await startCliGateway({
      model: (_call, count) => (count === 1 ? ['Endless', { wait: new Promise(() => {}) }] : ['Fine.']),
    });
    await using terminal = await perchIn(cli, ['chat', '--session', 'lost']);
    await terminal.waitForText(/›\s*$/);
    await terminal.type('hello');
    await terminal.press('Enter');
    await terminal.waitForText('Endless');
    cli.gw.detach();
    await terminal.waitForText(/connection to the gateway was lost[^\n]*\n›\s*$/);
    await cli.gw.attach(cli.bridge);
    const { client } = await cli.gw.client();
    await client.call('chat.abort', { sessionId: 'lost' });
    await terminal.type('again');
    await terminal.press('Enter');
    await terminal.waitForText(/Fine\.\n›\s*$/);
  });

  verifies(
    ['cli/chat-terminal', 'cli/colour'],
    'lines that are pasted are one message; what a model writes cannot steer the terminal',
    async () => {
      await using cli = await startCliGateway({
        model: () => [`a${ESC}[2Jb`, `${ESC}]0;title\u0007`, '👍'.slice(0, 1), `${'👍'.slice(1)}\tend`],
      });
      await using terminal = await perchIn(cli, ['chat']);
      await terminal.waitForText(/›\s*$/);
      await terminal.type('one\ntwo');
      await terminal.press('Enter');
      await terminal.waitForText(/a\\u\{1b\}\[2Jb\\u\{1b\}\]0;title\\u\{7\}👍\s+end/);
      const { client } = await cli.gw.client();
      const { messages } = await client.call('chat.history', { sessionId: 'main' });
      expect(messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
      expect(messages[0]?.content).toBe('one\ntwo');
    },
  );

  verifies('cli/colour', 'doctor is coloured on a terminal, not with NO_COLOR, and not in a pipe', async () => {
    await using cli = await startCliGateway();
    await using coloured = await perchIn(cli, ['doctor']);
    await coloured.waitForText(/\d+ passed, /);
    expect(await coloured.readStyled()).toMatch(new RegExp(`${ESC}\\[32mok +${ESC}\\[`));
    await using plain = await perchIn(cli, ['doctor'], { env: { NO_COLOR: '1' } });
    await plain.waitForText(/\d+ passed, /);
    expect(await plain.readStyled()).not.toContain(ESC);
    const piped = await cli.run(['doctor', '--port', cli.port]);
    expect(piped.stdout).toMatch(/^ok {8}/m);
    expect(piped.stdout).not.toContain(ESC);
  });

  verifies(['cli/colour', 'cli/sessions'], 'a table is cut to a narrow terminal, and whole in a pipe', async () => {
    await using cli = await startCliGateway();
    const { client } = await cli.gw.client();
    const title = `A title that is long ${'日本語 '.repeat(20)}`.trim();
    await client.call('chat.send', { message: 'hello', sessionId: 'a-session-with-a-rather-long-name' });
    await client.call('sessions.rename', { path: 'main/a-session-with-a-rather-long-name.jsonl', title });
    await using terminal = await perchIn(cli, ['sessions'], { columns: 50 });
    expect(await terminal.waitForExit()).toBe(0);
    const [heading, row, ...more] = (await terminal.lines()).map(stripVTControlCharacters);
    expect(heading).toMatch(/^Chat +Last used +Messages +Title$/);
    expect(row).toMatch(/^main\/a\S*…  \d.*  A tit.*…$/);
    expect(computeWidth(row ?? '')).toBeLessThanOrEqual(50);
    // Nothing of the row has been wrapped.
    expect(more.filter((line) => line.trim() !== '')).toEqual([]);
    const piped = await cli.run(['sessions', '--port', cli.port]);
    expect(piped.stdout).toContain(title);
    expect(piped.stdout).toContain('main/a-session-with-a-rather-long-name');
  });

  verifies('cli/progress', 'a download’s bar is one line as wide as the terminal at most; in a pipe there is none', async () => {
    const bytes = createGgufFile();
    await using hub = await startHubServer({ 'perch/tiny': { 'tiny.gguf': bytes } });
    const home = () => mkdtempSync(join(tmpdir(), 'perch-home-'));
    const homes = [home(), home(), home()];
    const command = ['models', 'download', 'perch/tiny'] as const;
    try {
      for (const [n, columns] of [80, 40].entries()) {
        const env = { PERCH_HOME: homes[n] ?? '', ...hub.env, ...(columns === 40 ? { NO_COLOR: '1' } : {}) };
        await using terminal = await openTerminal({ command: [process.execPath, CLI_MAIN, ...command], env, columns });
        expect(await terminal.waitForExit()).toBe(0);
        const lines = (await terminal.lines()).map(stripVTControlCharacters);
        // Each update of the progress bar replaced the previous one.
        expect(lines.filter((line) => line.includes('%'))).toEqual([expect.stringMatching(/^█* ?100 % {2}\d+ KB of \d+ KB$/)]);
        expect(lines[0]).toContain('100 %');
        expect(computeWidth(lines[0] ?? '')).toBeLessThan(columns);
        expect(lines[1]).toBe('perch/tiny/tiny.gguf');
        if (columns === 40) expect(await terminal.readStyled()).not.toContain(ESC);
      }
      const piped = await runPerch(['models', 'download', 'perch/tiny'], { PERCH_HOME: homes[2] ?? '', ...hub.env });
      expect(piped.stdout).toBe('perch/tiny/tiny.gguf\n');
      expect(piped.stderr).not.toMatch(/%|\r|█/);
      expect(piped.stderr).not.toContain(ESC);
    } finally {
      for (const each of homes) rmSync(each, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    }
  });
} else {
  test.skip(`terminal tests: ${missingTmux}`, () => {});
}
