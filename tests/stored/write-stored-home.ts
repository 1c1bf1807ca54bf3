// `npm run stored`: writes a home folder with all kinds of stored data by this build, for `tests/vault-e2e/stored-home.test.ts`.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { GatewayClient } from '#shared/client/client.ts';
import { startPerch } from '../e2e/perch-process.ts';
import { waitFor } from '../support/test-gateway.ts';
import { type ScriptedChat, startScriptedChat } from '../support/scripted-chat.ts';
import { readJournalCopy, readManagedCopy } from '../vault-e2e/vault-copies.ts';
import { packHome, readAnswers, STORED_PORT } from './stored-home.ts';

const PICTURE_BYTES = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** Has the model call these tools in turn, then say the text. */
function scriptToolCalls(model: ScriptedChat, text: string, ...calls: { tool: string; input: Record<string, unknown> }[]): void {
  const left = [...calls];
  model.script = () => left.shift() ?? { text };
}

async function fillHome(client: GatewayClient, model: ScriptedChat): Promise<void> {
  await client.call('config.patch', {
    patch: {
      providers: { local: { kind: 'openai-compatible', baseUrl: model.url, apiKey: 'sk-stored' } },
      chat: { model: 'local/model' },
      tools: {
        policies: { file_write: 'auto', plan_create: 'auto', web_fetch: 'ask' },
        afterReading: { file_write: ['web:*.example.org'] },
      },
    },
  });
  await client.call('agents.add', { agent_id: 'gardener', config: { name: 'Gardener', systemPrompt: 'You know plants.' } });
  scriptToolCalls(model, 'Herons eat fish.');
  await client.call('chat.send', {
    message: 'What do herons eat?',
    attachments: [{ mimeType: 'image/png', content: PICTURE_BYTES, filename: 'dot.png' }],
  });
  scriptToolCalls(model, 'And frogs.');
  await client.call('chat.send', { message: 'Anything else?' });
  scriptToolCalls(model, 'And frogs, too.');
  await client.call('chat.edit', { message: 'Anything else at all?' });
  scriptToolCalls(
    model,
    'Noted.',
    { tool: 'file_write', input: { path: 'notes/herons.md', content: '# Herons\n\nThey eat fish.\n' } },
    { tool: 'plan_create', input: { goal: 'Learn about herons', steps: ['Read', 'Write'] } },
    { tool: 'memory_add', input: { text: 'The person likes herons' } },
  );
  await client.call('chat.send', { sessionId: 'notes', message: 'Write that down' });
  scriptToolCalls(model, 'Roses.');
  await client.call('chat.send', { agentId: 'gardener', message: 'What is your favourite?' });
  await client.call('sessions.fork', { path: 'main/main.jsonl', sessionId: 'fork' });
  await client.call('sessions.rename', { path: 'main/notes.jsonl', title: 'Notes on herons' });
  await client.call('sessions.tag', { path: 'main/notes.jsonl', tags: ['birds', 'notes'] });
  await client.call('sessions.move', { path: 'main/notes.jsonl', folder: 'Nature' });
  await client.call('sessions.pin', { path: 'main/main.jsonl' });
  await client.call('chat.send', { sessionId: 'deleted', message: 'Soon gone' });
  await client.call('sessions.delete', { path: 'main/deleted.jsonl' });
  await client.call('memory.add', { text: 'The cat is called Miso', category: 'fact' });
  await client.call('memory.setPreference', { key: 'tone', value: 'calm' });
  await client.call('wiki.savePage', { path: 'concepts/Heron', content: 'A bird. See [[Frog]].\n', tags: ['bird'], version: null });
  await client.call('wiki.savePage', { path: 'concepts/Frog', content: 'Eaten by the [[Heron]].\n', version: null });
  await client.call('wiki.addClaim', {
    path: 'concepts/Heron',
    text: 'Herons eat fish',
    evidence: [{ source_id: 'chat', excerpt: 'Herons eat fish.' }],
    confidence: 0.9,
  });
  await client.call('workspace.write', { path: 'mine.md', content: 'First\n' });
  await client.call('workspace.write', { path: 'mine.md', content: 'Second\n' });
  await client.call('workspace.write', { path: 'prompts/greet.md', content: '---\ntitle: Greet\n---\nSay hello to {{name}}.\n' });
  await client.call('workspace.write', {
    path: 'skills/birds/SKILL.md',
    content: '---\nname: birds\ndescription: Knows birds\n---\nBirds fly.\n',
  });
  const { jobId } = await client.call('cron.add', {
    ...{ cron: '0 7 1 1 *', message: 'Happy new year', name: 'New year' },
    outsideGrant: { tools: ['file_write'], paths: ['reports/'] },
  });
  scriptToolCalls(model, 'Happy new year!');
  await client.call('cron.run', { id: jobId });
  await waitFor(async () => (await client.call('cron.history', { jobId })).records.some(({ status }) => status !== 'running'), 'the job');
  await client.call('keys.create', { name: 'Script', scopes: ['v1', 'chat'] });
  const { request } = await client.call('exec.create', { command: 'uname', args: ['-s'] });
  await client.call('exec.approve', { requestId: request.requestId, always: true });
  const { request: denied } = await client.call('exec.create', { command: 'id' });
  await client.call('exec.deny', { requestId: denied.requestId });
  scriptToolCalls(model, 'Not read.', { tool: 'web_fetch', input: { url: 'https://example.org/' } });
  const waiting = client.call('chat.send', { sessionId: 'web', message: 'Read example.org' });
  await waitFor(async () => (await client.call('approvals.list', {})).count > 0, 'the approval');
  for (const { id } of (await client.call('approvals.list', {})).approvals)
    await client.call('approvals.resolve', { id, decision: 'deny' });
  await waiting;
  await client.call('drawings.create', { title: 'Plan', width: 640, height: 480 });
  await client.call('system.event', { text: 'The build is done' });
  await client.call('sessions.import', {
    ...{ agentId: 'main', sessionId: 'imported', title: 'From elsewhere' },
    content: `${JSON.stringify({ id: 'i1', role: 'user', content: 'Hello', timestamp: 1_700_000_000_000 })}\n`,
  });
}

await using model = await startScriptedChat();
await using perch = await startPerch({ host: 'headless', port: STORED_PORT });
const client = await perch.client();
await fillHome(client, model);
const response = await perch.fetch('/v1/responses', {
  ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
  body: JSON.stringify({ model: 'local/model', input: 'Hello', store: true }),
});
if (!response.ok) throw new Error(await response.text());
await client.call('backup.export', {});
const answers = await readAnswers(client);
client.close();
const browser = await readManagedCopy(perch);
const journal = await readJournalCopy(perch.home);
const build = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: join(import.meta.dirname, '../..'), encoding: 'utf8' }).trim();
packHome(perch.home, {
  ...{ build, answers },
  browser: Object.fromEntries(browser?.records ?? []),
  journal: Object.fromEntries(journal.records),
});
console.log(`Stored ${String(journal.records.size)} records of ${String(Object.keys(answers).length)} answers`);
