import { expect, test } from 'vitest';
import {
  storeAnswer,
  storeQuestion,
  readChangeLog,
  readAllRows,
  TEST_VAULT_KEY,
  newMessage,
  newResult,
  newRun,
  newSession,
  newStep,
  newUsage,
  createTestVault,
} from './fixture.ts';
import { computeExportBytes } from './session-totals.ts';

test('the first send makes the session, with the message as its head', async () => {
  await using vault = await createTestVault();
  const question = newMessage('m1', null, { content: `Hello\n\n there ${'x'.repeat(200)}` });
  await vault.runs.begin({ session: newSession(), message: question, run: newRun('r1', 'm1') });
  const totals = {
    headId: 'm1',
    messageCount: 1,
    size: computeExportBytes(question),
    preview: `Hello there ${'x'.repeat(148)}`,
    updatedAt: 2_000,
  };
  expect(await vault.sessions.get(TEST_VAULT_KEY)).toEqual(newSession(TEST_VAULT_KEY, totals));
  expect(await vault.messages.get('m1')).toEqual(question);
  // Storage adds the owner of the run.
  const mine = { executor: 'here', replica: vault.vault.replica, fence: 1 };
  expect(await vault.runs.unfinished()).toEqual([newRun('r1', 'm1', mine)]);
});

test('a message that has come in from another host, where the same call was tried first, is counted once', async () => {
  await using vault = await createTestVault();
  const firstMessage = newMessage('m1', null, { content: 'Hello' });
  await vault.runs.begin({ session: newSession(), message: firstMessage, run: newRun('there', 'm1') });
  const again = newMessage('m1', null, { content: 'Hello', timestamp: firstMessage.timestamp + 1000 });
  await vault.runs.begin({ session: newSession(), message: again, run: newRun('here', 'm1') });
  expect(await vault.sessions.get(TEST_VAULT_KEY)).toMatchObject({ messageCount: 1, size: computeExportBytes(again) });
});

test('a run taken over by another host cannot be ended by the former one, whose late output is kept as a branch', async () => {
  await using vault = await createTestVault();
  const question = await storeQuestion(vault, 'm1');
  await vault.close();
  await using next = await createTestVault({ name: vault.name, origin: 'there' });
  expect(await next.runs.claim('run-m1', 2)).toBe(true);
  const interrupted = newMessage('gone', question, { role: 'assistant', interrupted: true });
  await next.runs.finish({ runId: 'run-m1', status: 'interrupted', endedAt: 5_000, messages: [interrupted] });
  expect(await next.runs.claim('run-m1', 3)).toBe(false);
  await next.close();
  await using late = await createTestVault({ name: vault.name });
  await storeAnswer(late, question);
  await storeAnswer(late, question);
  const { runs } = await readAllRows(vault.name);
  expect(runs).toMatchObject({ 'run-m1': { status: 'interrupted', executor: 'there', fence: 2 } });
  expect(await late.sessions.get(TEST_VAULT_KEY)).toMatchObject({ headId: 'gone', messageCount: 3 });
  expect(await late.messages.get('re-m1')).toMatchObject({ parentId: 'm1' });
});

test('size is the bytes of the JSONL export, as a client sees the messages', async () => {
  await using vault = await createTestVault();
  const question = newMessage('m1', null, { content: 'żółw 🐢', runId: 'r1' });
  await vault.runs.begin({ session: newSession(), message: question, run: newRun('r1', 'm1') });
  const line = JSON.stringify({ id: 'm1', role: 'user', content: 'żółw 🐢', timestamp: 1_000, parentId: null });
  expect((await vault.sessions.get(TEST_VAULT_KEY))?.size).toBe(Buffer.byteLength(`${line}\n`));
});

test('a preview is cut between characters, and has no text of tools', async () => {
  await using vault = await createTestVault();
  await vault.runs.begin({
    session: newSession(),
    message: newMessage('m1', null, { content: '🐢'.repeat(200) }),
    run: newRun('r1', 'm1'),
  });
  expect((await vault.sessions.get(TEST_VAULT_KEY))?.preview).toBe('🐢'.repeat(160));
  const m1 = newMessage('m1', null);
  const result = newMessage('m2', m1, { role: 'tool', content: '{"secret":1}' });
  await vault.runs.finish({ runId: 'r1', status: 'done', endedAt: 3_000, messages: [result] });
  expect(await vault.sessions.get(TEST_VAULT_KEY)).toMatchObject({ headId: 'm2', preview: '🐢'.repeat(160) });
});

test('a later send changes no more of the entry than it has to', async () => {
  await using vault = await createTestVault();
  const question = await storeQuestion(vault, 'm1');
  const reply = await storeAnswer(vault, question);
  await vault.sessions.update(TEST_VAULT_KEY, { title: 'Mine', pinned: true });
  await vault.runs.begin({
    session: newSession(TEST_VAULT_KEY, { messageCount: 7 }),
    message: newMessage('m2', reply),
    run: newRun('r2', 'm2'),
  });
  expect(await vault.sessions.get(TEST_VAULT_KEY)).toMatchObject({ title: 'Mine', pinned: true, messageCount: 3, headId: 'm2' });
});

test('resend moves the head back to the question, and both replies stay', async () => {
  await using vault = await createTestVault();
  const question = await storeQuestion(vault, 'm1');
  await storeAnswer(vault, question);
  await vault.runs.begin({ session: newSession(), message: null, run: newRun('again', 'm1') });
  expect(await vault.sessions.get(TEST_VAULT_KEY)).toMatchObject({ headId: 'm1', messageCount: 2, preview: 'text of m1' });
  const second = newMessage('second', question, { role: 'assistant' });
  await vault.runs.finish({ runId: 'again', status: 'done', endedAt: 5_000, messages: [second] });
  const branch = await vault.messages.branch(TEST_VAULT_KEY, { limit: 10 });
  expect(branch.messages.map(({ id }) => id)).toEqual(['m1', 'second']);
  expect(await vault.messages.get('re-m1')).toBeDefined();
});

test('a message that follows one that is gone is refused, and nothing of it stored', async () => {
  await using vault = await createTestVault();
  const question = await storeQuestion(vault, 'm1');
  await vault.sessions.clear(TEST_VAULT_KEY);
  const before = await readAllRows(vault.name);
  const begin = vault.runs.begin({ session: newSession(), message: newMessage('m2', question), run: newRun('r2', 'm2') });
  await expect(begin).rejects.toMatchObject({ code: 'NOT_FOUND' });
  const resend = vault.runs.begin({ session: newSession(), message: null, run: newRun('r2', 'm1') });
  await expect(resend).rejects.toMatchObject({ code: 'NOT_FOUND' });
  expect(await readAllRows(vault.name)).toEqual(before);
});

test('finish stores reply, usage, totals and the run’s end at once', async () => {
  await using vault = await createTestVault();
  const question = await storeQuestion(vault, 'm1');
  await vault.runs.savePartial('run-m1', 'so f');
  const call = newMessage('c', question, { role: 'assistant', content: '', toolCalls: [{ id: 't', tool: 'docs_search', args: {} }] });
  const result = newMessage('t', call, { role: 'tool', content: 'found' });
  const reply = newMessage('r', result, { role: 'assistant', content: 'so far' });
  const messages = [call, result, reply];
  await vault.runs.finish({ runId: 'run-m1', status: 'done', endedAt: 9_000, messages, usage: newUsage('u') });
  const size = [question, ...messages].reduce((sum, message) => sum + computeExportBytes(message), 0);
  expect(await vault.sessions.get(TEST_VAULT_KEY)).toMatchObject({
    headId: 'r',
    messageCount: 4,
    size,
    preview: 'so far',
    updatedAt: 9_000,
  });
  expect(await vault.usage.since(0)).toEqual([newUsage('u')]);
  expect(await vault.runs.unfinished()).toEqual([]);
  expect(await readAllRows(vault.name)).toMatchObject({
    partials: {},
    runs: { 'run-m1': { status: 'done', endedAt: 9_000, partial: '' } },
  });
});

test('a run is ended once', async () => {
  await using vault = await createTestVault();
  const question = await storeQuestion(vault, 'm1');
  await storeAnswer(vault, question);
  const before = await readAllRows(vault.name);
  const messages = [newMessage('other', question)];
  await vault.runs.finish({ runId: 'run-m1', status: 'failed', endedAt: 5_000, messages, usage: newUsage('u') });
  expect(await readAllRows(vault.name)).toEqual(before);
});

test('a run is begun once', async () => {
  await using vault = await createTestVault();
  await storeQuestion(vault, 'm1');
  const before = await readAllRows(vault.name);
  await storeQuestion(vault, 'm1');
  expect(await readAllRows(vault.name)).toEqual(before);
});

test('a run without messages leaves the head where it is', async () => {
  await using vault = await createTestVault();
  await storeQuestion(vault, 'm1');
  await vault.runs.finish({ runId: 'run-m1', status: 'failed', endedAt: 5_000, messages: [] });
  expect(await vault.sessions.get(TEST_VAULT_KEY)).toMatchObject({ headId: 'm1', messageCount: 1 });
});

test('the reply to a branch that was left does not move the head', async () => {
  await using vault = await createTestVault();
  const first = await storeQuestion(vault, 'm1');
  const edited = await storeQuestion(vault, 'm2');
  const lateReply = await storeAnswer(vault, first);
  expect(await vault.sessions.get(TEST_VAULT_KEY)).toMatchObject({ headId: 'm2', messageCount: 3, preview: 'text of m2' });
  const reply = await storeAnswer(vault, edited);
  expect(await vault.sessions.get(TEST_VAULT_KEY)).toMatchObject({ headId: reply.id, messageCount: 4 });
  expect(await vault.messages.get(lateReply.id)).toEqual(lateReply);
});

test('a reply moves the head where that lies further up its branch', async () => {
  await using vault = await createTestVault();
  const reply = await storeAnswer(vault, await storeQuestion(vault, 'm1'));
  const question = await storeQuestion(vault, 'm2', reply);
  await vault.runs.begin({ session: newSession(), message: null, run: newRun('again', 'm1') });
  await storeAnswer(vault, question);
  expect(await vault.sessions.get(TEST_VAULT_KEY)).toMatchObject({ headId: 're-m2', messageCount: 4 });
});

test.each(['remove', 'clear'] as const)('of a run whose session went by %s only end and usage are stored', async (gone) => {
  await using vault = await createTestVault();
  const question = await storeQuestion(vault, 'm1');
  await vault.sessions[gone](TEST_VAULT_KEY);
  const session = await vault.sessions.get(TEST_VAULT_KEY);
  await vault.runs.savePartial('run-m1', 'text that nobody wants any more');
  expect(await vault.runs.unfinished()).toMatchObject([{ id: 'run-m1', partial: '' }]);
  const messages = [newMessage('r', question)];
  await vault.runs.finish({ runId: 'run-m1', status: 'done', endedAt: 5_000, messages, usage: newUsage('u') });
  expect(await vault.sessions.get(TEST_VAULT_KEY)).toEqual(session);
  expect(await readAllRows(vault.name)).toMatchObject({
    messages: {},
    partials: {},
    usage: { u: {} },
    runs: { 'run-m1': { status: 'done' } },
  });
});

test('a session of the same name that was made meanwhile does not get the reply', async () => {
  await using vault = await createTestVault();
  const question = await storeQuestion(vault, 'm1');
  await vault.sessions.remove(TEST_VAULT_KEY);
  await storeQuestion(vault, 'm2');
  await storeAnswer(vault, question);
  expect(await vault.sessions.get(TEST_VAULT_KEY)).toMatchObject({ headId: 'm2', messageCount: 1 });
  expect(await vault.messages.get('re-m1')).toBeUndefined();
});

test('what a run had written is there for the host that comes after', async () => {
  await using vault = await createTestVault();
  await storeQuestion(vault, 'm1');
  await vault.runs.savePartial('run-m1', 'half a sen');
  await vault.close();
  await using next = await createTestVault({ name: vault.name });
  expect(await next.runs.unfinished()).toMatchObject([{ id: 'run-m1', status: 'running', partial: 'half a sen' }]);
});

test('text that is saved after the end is dropped; it is in no log unless it is shared', async () => {
  await using vault = await createTestVault();
  const question = await storeQuestion(vault, 'm1');
  const log = await readChangeLog(vault.name);
  await vault.runs.savePartial('run-m1', 'half');
  expect(await readChangeLog(vault.name)).toEqual(log);
  await vault.runs.savePartial('run-m1', 'half', 'a step and half');
  expect(await readChangeLog(vault.name)).not.toEqual(log);
  expect(await readAllRows(vault.name)).toMatchObject({ runs: { 'run-m1': { partial: 'a step and half', fence: 1 } } });
  // This host knows the steps.
  expect(await vault.runs.unfinished()).toMatchObject([{ partial: 'half' }]);
  await storeAnswer(vault, question);
  await vault.runs.savePartial('run-m1', 'late', 'late');
  expect(await readAllRows(vault.name)).toMatchObject({ partials: {}, runs: { 'run-m1': { partial: '' } } });
});

test('a host that has lost a run to another shares no text of it', async () => {
  await using vault = await createTestVault();
  await storeQuestion(vault, 'm1');
  await vault.close();
  await using next = await createTestVault({ name: vault.name, origin: 'there' });
  await next.runs.claim('run-m1', 2);
  await next.close();
  await using late = await createTestVault({ name: vault.name });
  await late.runs.savePartial('run-m1', 'more', 'more');
  expect(await readAllRows(vault.name)).toMatchObject({ runs: { 'run-m1': { partial: '', fence: 2 } } });
});

test('a result is a row of its own behind its step, and goes with the run', async () => {
  await using vault = await createTestVault();
  const question = await storeQuestion(vault, 'm1');
  const [first, second] = [newStep('m1'), newStep('m1', { at: 4, results: new Map() })];
  await vault.runs.saveStep(first);
  await vault.runs.savePartial('run-m1', 'more');
  await vault.runs.saveResult(newResult('m1'));
  // The text so far does not belong to that step.
  expect(await vault.runs.unfinished()).toMatchObject([{ partial: 'more' }]);
  await vault.runs.saveStep(second);
  await vault.runs.saveResult(newResult('m1', { at: 5, callId: 'one' }));
  const { runSteps } = await readAllRows(vault.name);
  expect(Object.values(runSteps ?? {}).map((row) => Object.keys(row as object).sort())).toEqual([
    ['at', 'results', 'runId', 'said'],
    ['at', 'callId', 'result', 'runId'],
    ['at', 'results', 'runId', 'said'],
    ['at', 'callId', 'result', 'runId'],
  ]);
  const { result } = newResult('m1');
  expect(await vault.runs.steps('run-m1')).toEqual([
    { ...first, results: new Map([...first.results, ['two', result]]) },
    { ...second, results: new Map([['one', result]]) },
  ]);
  await storeAnswer(vault.vault, question);
  await vault.runs.saveResult(newResult('m1'));
  expect(await readAllRows(vault.name)).toMatchObject({ runSteps: {} });
});

test('steps are there for the next host, without the text that they have, and go with the run', async () => {
  await using vault = await createTestVault();
  const question = await storeQuestion(vault, 'm1');
  await storeQuestion(vault, 'm2', question);
  const log = await readChangeLog(vault.name);
  const [first, second] = [newStep('m1'), newStep('m1', { at: 3 })];
  await vault.runs.savePartial('run-m1', 'I lo');
  await vault.runs.saveStep({ ...first, results: new Map() });
  await vault.runs.saveStep(second);
  await vault.runs.saveStep(first);
  await vault.runs.saveStep(newStep('m2'));
  expect(await readChangeLog(vault.name)).toEqual(log);
  await vault.close();
  await using next = await createTestVault({ name: vault.name });
  expect(await next.runs.unfinished()).toMatchObject([{ partial: '' }, { partial: '' }]);
  expect(await next.runs.steps('run-m1')).toEqual([first, second]);
  await storeAnswer(next.vault, question);
  await next.runs.saveStep(second);
  expect(await next.runs.steps('run-m1')).toEqual([]);
  expect(await next.runs.steps('run-m2')).toHaveLength(1);
  await next.sessions.clear(TEST_VAULT_KEY);
  expect(await readAllRows(next.name)).toMatchObject({ runSteps: {}, partials: {} });
});
