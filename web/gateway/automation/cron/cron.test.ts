import { expect } from 'vitest';
import { verifies } from '../../../../tests/requirements.ts';
import { CRON_PRINCIPAL } from './scheduler.ts';
import { createCronHosts, advanceUntil, HOUR, MINUTE, createSlowScript } from '../../../../tests/support/cron-hosts.ts';
import { FakeClock } from '../../../../tests/support/fake-clock.ts';
import { createScript, waitFor } from '../../../../tests/support/test-gateway.ts';
import { sendRawRequest } from '../../../../tests/support/raw-connection.ts';

const START = new FakeClock().now();
const toUtcSchedule = (expr: string) => ({ kind: 'cron' as const, expr, tz: 'UTC' });

verifies(['cron/methods', 'cron/ticks'], 'a tick speaks in a session of its own, named for its job, and is recorded', async () => {
  await using gw = await createCronHosts().open();
  const { client: other, events } = await gw.client();
  const jobId = await gw.add({ schedule: toUtcSchedule('5 12 * * *'), name: 'News', message: 'What is new?' });
  expect(await gw.api.call('cron.list', {})).toMatchObject({
    count: 1,
    jobs: [{ id: jobId, name: 'News', enabled: true, nextRunAt: START + 5 * MINUTE, lastRunAt: null, lastStatus: null }],
  });
  await gw.advance(5 * MINUTE - 2000);
  expect(gw.calls).toHaveLength(0);
  const [run] = await gw.waitForRuns(1);
  expect(run).toMatchObject({
    id: `${jobId}@${START + 5 * MINUTE}`,
    status: 'completed',
    agentId: 'main',
    scheduledAt: START + 5 * MINUTE,
  });
  expect((run?.startedAt ?? 0) - START - 5 * MINUTE).toBeLessThan(5000);
  const { sessions } = await gw.api.call('sessions.list', {});
  expect(sessions).toMatchObject([{ sessionId: run?.sessionId, title: 'News', messageCount: 2 }]);
  const { messages } = await gw.api.call('chat.history', { sessionId: run?.sessionId ?? '' });
  expect(messages.map(({ content }) => content)).toEqual(['What is new?', 'Hello there']);
  expect((await gw.vault.usage.since(0)).map(({ principal }) => principal)).toEqual([CRON_PRINCIPAL]);
  expect((await gw.api.call('cron.list', {})).jobs).toMatchObject([
    { nextRunAt: START + 24 * HOUR + 5 * MINUTE, lastRunAt: run?.startedAt, lastStatus: 'completed' },
  ]);
  expect(events.filter(({ event }) => event === 'cron.changed').map(({ payload }) => payload)).toContainEqual({ jobId });
  other.close();
  expect(gw.faults).toEqual([]);
});

verifies('cron/ticks', 'jobs that are due together are listed by name, as people count', async () => {
  await using gw = await createCronHosts().open();
  for (const name of ['News 10', 'News 9', 'alarm', 'News 2'])
    await gw.add({ schedule: toUtcSchedule('5 12 * * *'), name, message: 'What is new?' });
  expect((await gw.api.call('cron.list', {})).jobs.map(({ name }) => name)).toEqual(['alarm', 'News 2', 'News 9', 'News 10']);
});

verifies('cron/ticks', 'or in the main session of its agent, behind its messages', async () => {
  const gate = Promise.withResolvers<void>();
  await using gw = await createCronHosts().open((_call, count) => (count === 1 ? ['first', { wait: gate.promise }] : ['second']));
  await gw.api.call('agents.add', { agent_id: 'helper' });
  await gw.add({ sessionTarget: 'main', agentId: 'helper', schedule: toUtcSchedule('1 12 * * *'), message: 'Tick' });
  const pendingSend = gw.api.call('chat.send', { agentId: 'helper', message: 'Hi' });
  await advanceUntil(gw.clock, async () => (await gw.history()).length === 1);
  expect(await gw.history()).toMatchObject([{ status: 'running', agentId: 'helper', sessionId: 'main' }]);
  gate.resolve();
  await pendingSend;
  await gw.waitForRuns(1);
  const { messages } = await gw.api.call('chat.history', { agentId: 'helper', sessionId: 'main' });
  expect(messages.map(({ content }) => content)).toEqual(['Hi', 'first', 'Tick', 'second']);
});

verifies('chat/parameters', 'a job has its own, which come before those of its agent', async () => {
  await using gw = await createCronHosts().open();
  await gw.api.call('config.patch', { patch: { agents: { main: { temperature: 0.1, seed: 4 } } } });
  const getLastBody = (): object => gw.calls.at(-1)?.body ?? {};
  const id = await gw.add({ message: 'Tick', parameters: { thinking: 'high', temperature: 0.9, instructions: 'Report.' } });
  await gw.api.call('cron.run', { id });
  await gw.waitForRuns(1);
  expect(getLastBody()).toMatchObject({ reasoning_effort: 'high', temperature: 0.9, seed: 4 });
  expect(String(gw.calls.at(-1)?.body.messages[0]?.content)).toContain('\n\nReport.');
  // Others keep them; null resets them.
  const { job: renamed } = await gw.api.call('cron.update', { id, name: 'Ticker' });
  expect(renamed.parameters).toEqual({ thinking: 'high', temperature: 0.9, instructions: 'Report.' });
  const { job: changed } = await gw.api.call('cron.update', { id, parameters: { topP: 0.5 } });
  expect(changed.parameters).toEqual({ topP: 0.5 });
  const { job: reset } = await gw.api.call('cron.update', { id, parameters: null });
  expect('parameters' in reset).toBe(false);
  await gw.api.call('cron.run', { id });
  await gw.waitForRuns(2);
  expect(getLastBody()).toMatchObject({ temperature: 0.1, seed: 4 });
  expect(getLastBody()).not.toHaveProperty('reasoning_effort');
});

verifies('cron/schedule', 'an invalid schedule is refused; a new one counts from when it is set', async () => {
  await using gw = await createCronHosts().open();
  const refused = (params: Record<string, unknown>) => gw.api.request('cron.add', { message: 'x', ...params });
  await expect(refused({})).rejects.toMatchObject({ code: 'INVALID_PARAMS', message: expect.stringContaining('`schedule`') as string });
  await expect(refused({ cron: '* * * *' })).rejects.toMatchObject({
    code: 'INVALID_PARAMS',
    message: expect.stringContaining('`cron`: ') as string,
  });
  await expect(refused({ schedule: { kind: 'every', everyMs: 59_999 } })).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
  await expect(refused({ cron: '0 9 * * *', message: 'a\0b' })).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
  for (const [at, expectedError] of [
    ['2026-11-20T13:00', 'has no time zone'],
    ['2020-01-01T00:00:00Z', 'has passed'],
    ['tomorrow', 'ISO 8601'],
    ['2026-02-30T09:00:00Z', 'ISO 8601'],
  ] as const)
    await expect(refused({ schedule: { kind: 'at', at } }), at).rejects.toMatchObject({
      code: 'INVALID_PARAMS',
      message: expect.stringContaining(expectedError) as string,
    });
  const jobId = await gw.add({ cron: '0 9 * * *', name: 'Morning' });
  await expect(gw.api.call('cron.update', { id: jobId, agentId: 'none' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
  await expect(gw.api.call('cron.update', { id: jobId, schedule: { kind: 'at', at: START } })).rejects.toMatchObject({
    code: 'INVALID_PARAMS',
  });
  await gw.advance(10_000);
  const { job } = await gw.api.call('cron.update', { id: jobId, schedule: { kind: 'every', everyMs: HOUR }, catchUp: true });
  expect(job).toMatchObject({ name: 'Morning', catchUp: true, nextRunAt: gw.clock.now() + HOUR });
  // Uses the configured time zone if the job has none.
  await gw.api.call('config.set', { key: 'chat.timeZone', value: 'Asia/Tokyo' });
  const { job: other } = await gw.api.call('cron.update', { id: jobId, schedule: { kind: 'cron', expr: '0 9 * * *' } });
  expect(new Date(other.nextRunAt ?? 0).toISOString()).toBe('2026-11-21T00:00:00.000Z');
});

verifies('cron/schedule', 'a time that is given as text is kept as milliseconds', async () => {
  await using gw = await createCronHosts().open();
  const at = Date.parse('2026-12-24T18:00:00+01:00');
  const { jobId, job } = await gw.api.call('cron.add', { schedule: { kind: 'at', at: '2026-12-24T18:00:00+01:00' }, message: 'x' });
  expect(job).toMatchObject({ schedule: { kind: 'at', at }, nextRunAt: at });
  const moved = await gw.api.call('cron.update', { id: jobId, schedule: { kind: 'at', at: '2026-12-24T19:00', tz: 'Europe/Berlin' } });
  expect(moved.job.schedule).toEqual({ kind: 'at', at: at + HOUR });
  expect((await gw.vault.collection('jobs').get(jobId))?.schedule).toEqual({ kind: 'at', at: at + HOUR });
});

verifies('cron/schedule', 'more jobs than can be looked after are refused', async () => {
  await using gw = await createCronHosts().open();
  const { job } = await gw.api.call('cron.add', { cron: '0 9 * * *', message: 'x' });
  const { nextRunAt: _next, lastRunAt: _last, lastStatus: _status, ...definition } = job;
  const jobs = gw.vault.collection('jobs');
  await Promise.all(Array.from({ length: 199 }, (_, index) => jobs.put({ ...definition, id: `j${index}`, since: START })));
  await expect(gw.api.call('cron.add', { cron: '0 9 * * *', message: 'x' })).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
});

verifies('cron/once', 'it runs, and stays, disabled, with its history', async () => {
  await using gw = await createCronHosts().open();
  const jobId = await gw.add({ schedule: { kind: 'at', at: START + 90_000 } });
  await gw.waitForRuns(1);
  await advanceUntil(gw.clock, async () => (await gw.api.call('cron.list', {})).jobs[0]?.enabled === false);
  expect((await gw.api.call('cron.list', {})).jobs).toMatchObject([{ id: jobId, nextRunAt: null, lastStatus: 'completed' }]);
  await expect(gw.api.call('cron.toggle', { id: jobId, enabled: true })).rejects.toMatchObject({ code: 'INVALID_PARAMS' });
  await gw.api.call('cron.update', { id: jobId, schedule: { kind: 'at', at: gw.clock.now() + HOUR } });
  await gw.api.call('cron.toggle', { id: jobId, enabled: true });
  await advanceUntil(gw.clock, async () => (await gw.history(jobId)).length === 2, 30_000);
});

verifies('cron/methods', 'a disabled job has no ticks, and those of that time do not count as missed', async () => {
  await using gw = await createCronHosts().open();
  const jobId = await gw.add({ enabled: false });
  await gw.advance(5 * MINUTE, 10_000);
  expect(await gw.api.call('cron.toggle', { id: jobId, enabled: true })).toEqual({ ok: true, enabled: true });
  const [first] = await gw.waitForRuns(1);
  expect(first).toMatchObject({ status: 'completed' });
  expect(first?.scheduledAt).toBeGreaterThan(START + 5 * MINUTE);
  await gw.api.call('cron.toggle', { id: jobId, enabled: false });
  await gw.advance(5 * MINUTE, 10_000);
  expect(await gw.history()).toHaveLength(1);
});

verifies('cron/missed', 'while no host ran: one record that says how many, and the next tick runs', async () => {
  const hosts = createCronHosts();
  {
    await using gw = await hosts.open();
    await gw.add({ schedule: toUtcSchedule('0 * * * *') });
  }
  hosts.clock.advance(3.5 * HOUR);
  await using gw = await hosts.open();
  const [skipped] = await gw.waitForRuns(1);
  expect(skipped).toMatchObject({ status: 'skipped', scheduledAt: START + 3 * HOUR, ticks: 3 });
  expect(skipped?.error).toBe(
    '3 runs due from 2026-11-20T13:00:00.000Z to 2026-11-20T15:00:00.000Z were missed because Perch was not running or the computer was asleep',
  );
  expect(gw.calls).toHaveLength(0);
  await gw.advance(30 * MINUTE, 30_000);
  expect((await gw.waitForRuns(2))[1]).toMatchObject({ status: 'completed', scheduledAt: START + 4 * HOUR });
});

verifies('cron/missed', 'with `catchUp` the last of them is run once, and the others are recorded', async () => {
  const hosts = createCronHosts();
  {
    await using gw = await hosts.open();
    await gw.add({ schedule: toUtcSchedule('0 * * * *'), catchUp: true });
    await gw.add({ schedule: { kind: 'at', at: START + HOUR }, catchUp: true, name: 'Once' });
    await gw.add({ schedule: { kind: 'at', at: START + HOUR }, name: 'Not' });
  }
  hosts.clock.advance(3.5 * HOUR);
  await using gw = await hosts.open();
  const records = await gw.waitForRuns(4);
  const { jobs } = await gw.api.call('cron.list', {});
  const of = (name: string) => records.filter(({ jobId }) => jobId === jobs.find((job) => job.name === name)?.id);
  expect(of('Look')).toMatchObject([
    { status: 'skipped', ticks: 2, scheduledAt: START + 2 * HOUR },
    { status: 'completed', scheduledAt: START + 3 * HOUR },
  ]);
  expect(of('Once')).toMatchObject([{ status: 'completed', scheduledAt: START + HOUR }]);
  expect(of('Not')).toMatchObject([{ status: 'skipped', error: expect.stringContaining('The run due at 2026-11-20T13:00') as string }]);
  await advanceUntil(gw.clock, async () => (await gw.api.call('cron.list', {})).jobs.filter(({ enabled }) => enabled).length === 1);
  expect(gw.calls).toHaveLength(2);
});

verifies('cron/clock-jump', 'forward: noticed within a minute, what it leapt over is missed; back: nothing runs twice', async () => {
  await using gw = await createCronHosts().open();
  await gw.add({ schedule: toUtcSchedule('*/10 * * * *') });
  await gw.advance(10 * MINUTE, 10_000);
  await gw.waitForRuns(1);
  gw.clock.jump(2 * HOUR + 5 * MINUTE);
  await gw.advance(MINUTE + 1000);
  expect(await gw.waitForRuns(2)).toMatchObject([{ scheduledAt: START + 10 * MINUTE }, { status: 'skipped', ticks: 12 }]);
  // Two and a half hours back: before the job was made.
  gw.clock.jump(-2.5 * HOUR);
  await gw.advance(45 * MINUTE, 20_000);
  const ran = (await gw.history()).filter(({ status }) => status === 'completed').map(({ scheduledAt }) => scheduledAt);
  expect(new Set(ran).size).toBe(ran.length);
  expect(ran.length).toBe(gw.calls.length);
  expect(ran.length).toBeGreaterThanOrEqual(4);
  expect(ran.filter((at) => at === START + 10 * MINUTE)).toHaveLength(1);
});

verifies('cron/overlap', 'it is skipped, and the run goes on', async () => {
  const hosts = createCronHosts();
  await using gw = await hosts.open((_call, count) => (count === 1 ? createSlowScript(hosts.clock, 3) : ['done']));
  await gw.add();
  await advanceUntil(gw.clock, () => gw.calls.length === 1);
  await gw.advance(2 * MINUTE);
  expect((await gw.history()).map(({ status }) => status)).toEqual(['running', 'skipped', 'skipped']);
  expect((await gw.history())[1]?.error).toBe('The previous run was still in progress');
  await advanceUntil(gw.clock, async () => (await gw.history())[0]?.status === 'completed');
  await advanceUntil(gw.clock, () => gw.calls.length === 2);
});

verifies('cron/pause', 'shown as the time of the next run; the ticks within are recorded, and a success ends it', async () => {
  let broken = true;
  await using gw = await createCronHosts().open(() => (broken ? [{ status: 500, body: 'broken' }] : ['fine']));
  await gw.add();
  const next = async () => (await gw.api.call('cron.list', {})).jobs[0]?.nextRunAt ?? 0;
  await gw.waitForRuns(3);
  const failures = await gw.history();
  expect(failures.map(({ status }) => status)).toEqual(['failed', 'failed', 'failed']);
  expect(failures[0]?.error).toContain('500');
  const last = failures[2]?.completedAt ?? 0;
  expect(await next()).toBe(last + 5 * MINUTE);
  broken = false;
  const calls = gw.calls.length;
  await advanceUntil(gw.clock, () => gw.clock.now() >= last + 5 * MINUTE - 2000);
  expect(gw.calls).toHaveLength(calls);
  const [skipped, success] = (await gw.waitForRuns(5)).slice(3);
  expect(skipped).toMatchObject({
    status: 'skipped',
    error: expect.stringContaining('during the pause after 3 failures in a row') as string,
  });
  expect(success).toMatchObject({ status: 'completed' });
  expect(await next()).toBeLessThanOrEqual(gw.clock.now() + MINUTE);
});

verifies('cron/time-out', 'and the model’s call with it', async () => {
  const hosts = createCronHosts();
  await using gw = await hosts.open(() => createSlowScript(hosts.clock, 20));
  await gw.add({ schedule: { kind: 'at', at: START + MINUTE } });
  await advanceUntil(gw.clock, () => gw.calls.length === 1);
  await gw.advance(9 * MINUTE, 10_000);
  expect(await gw.history()).toMatchObject([{ status: 'running' }]);
  const [run] = await gw.waitForRuns(1);
  expect(run).toMatchObject({ status: 'timeout', error: 'Timed out after 10 minutes' });
  await waitFor(() => gw.calls[0]?.signal.aborted === true);
  const { messages } = await gw.api.call('chat.history', { sessionId: run?.sessionId ?? '' });
  expect(messages).toMatchObject([{ content: 'Look' }, { content: '.'.repeat(20), aborted: true }]);
});

verifies('cron/gone', 'an agent that is gone: the run fails with that; a job that is gone: its run goes on, and is the last', async () => {
  const hosts = createCronHosts();
  await using gw = await hosts.open(() => createSlowScript(hosts.clock, 3));
  await gw.api.call('agents.add', { agent_id: 'helper' });
  const first = await gw.add({ agentId: 'helper', schedule: { kind: 'every', everyMs: HOUR } });
  await gw.api.call('agents.remove', { agent_id: 'helper' });
  await advanceUntil(gw.clock, async () => (await gw.history(first))[0]?.status === 'failed', 30_000);
  expect((await gw.history(first))[0]?.error).toBe('No agent with id "helper".');
  await gw.api.call('cron.remove', { id: first });
  const second = await gw.add();
  await advanceUntil(gw.clock, () => gw.calls.length === 1);
  await gw.api.call('cron.remove', { id: second });
  await advanceUntil(gw.clock, async () => (await gw.history(second))[0]?.status === 'completed');
  await gw.advance(2 * MINUTE);
  expect(await gw.history(second)).toHaveLength(1);
  expect((await gw.api.call('cron.list', {})).jobs).toEqual([]);
  expect(gw.faults).toEqual([]);
});

verifies('cron/deleted', 'its runs stay for 30 days, with its name', async () => {
  const hosts = createCronHosts();
  await using gw = await hosts.open(createScript(['done']));
  const id = await gw.add({ name: 'Morning news', schedule: { kind: 'every', everyMs: HOUR } });
  await gw.api.call('cron.run', { id });
  await advanceUntil(gw.clock, async () => (await gw.history(id))[0]?.status === 'completed', 30_000);
  expect((await gw.history(id))[0]).not.toHaveProperty('jobName');
  await gw.api.call('cron.remove', { id });
  const expectedRuns = [{ jobId: id, jobName: 'Morning news', status: 'completed' }];
  expect(await gw.history(id)).toMatchObject(expectedRuns);
  expect(await gw.history()).toMatchObject(expectedRuns);
  expect((await gw.api.call('cron.list', {})).jobs).toEqual([]);
  await gw.advance(29 * 24 * HOUR, 12 * HOUR);
  expect(await gw.history()).toMatchObject(expectedRuns);
  await gw.advance(2 * 24 * HOUR, 12 * HOUR);
  // The next deletion or start removes old records.
  await gw.api.call('cron.remove', { id: await gw.add({ enabled: false }) });
  expect(await gw.history()).toEqual([]);
  await expect(gw.history(id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
  expect(gw.faults).toEqual([]);
});

verifies('cron/run', 'and its ticks come as before', async () => {
  const gate = Promise.withResolvers<void>();
  await using gw = await createCronHosts().open(createScript([{ wait: gate.promise }, 'done']));
  const id = await gw.add({ enabled: false, schedule: { kind: 'every', everyMs: HOUR } });
  const { record } = await gw.api.call('cron.run', { id });
  expect(record).toMatchObject({ jobId: id, status: 'running', manual: true });
  await expect(gw.api.call('cron.run', { id })).rejects.toMatchObject({ code: 'ALREADY_EXISTS' });
  gate.resolve();
  await waitFor(async () => (await gw.history())[0]?.status === 'completed');
  await gw.api.call('cron.toggle', { id, enabled: true });
  const due = gw.clock.now() + HOUR;
  await gw.advance(10_000);
  await gw.api.call('cron.run', { id });
  await gw.waitForRuns(2);
  expect((await gw.api.call('cron.list', {})).jobs).toMatchObject([{ nextRunAt: due, lastStatus: 'completed' }]);
  const again = { id, idempotencyKey: 'k' };
  expect(await gw.api.call('cron.run', again)).toEqual(await gw.api.call('cron.run', again));
});

verifies('cron/history', 'the newest first', async () => {
  await using gw = await createCronHosts().open();
  const id = await gw.add({ schedule: { kind: 'every', everyMs: HOUR } });
  const other = await gw.add({ schedule: { kind: 'every', everyMs: HOUR } });
  const runs = gw.vault.collection('jobRuns');
  for (let index = 1; index <= 230; index++) {
    const at = START - index * MINUTE;
    await runs.put({ id: `${id}@${at}`, jobId: id, scheduledAt: at, startedAt: at, completedAt: at, status: 'completed' });
  }
  await advanceUntil(gw.clock, async () => (await gw.history(other)).length === 1, 30_000);
  await waitFor(async () => (await runs.list(`${id}@`)).length === 200);
  await expect(gw.api.call('cron.history', { jobId: 'none' })).rejects.toMatchObject({
    code: 'NOT_FOUND',
    message: expect.stringMatching(/^No job with id/) as string,
  });
  const { records, count } = await gw.api.call('cron.history', {});
  expect(count).toBe(50);
  expect(records.map(({ startedAt }) => startedAt)).toEqual(records.map(({ startedAt }) => startedAt).sort((a, b) => b - a));
});

verifies('cron/earlier-shapes', 'an array with expressions, and an id', async () => {
  await using gw = await createCronHosts().open();
  const old = async (method: string, params: unknown): Promise<unknown> => {
    const answer = await sendRawRequest(gw, method, JSON.stringify(params), 2);
    return answer.ok && answer.payload;
  };
  const added = await old('cron.add', { cron: '0 9 * * *', message: 'Look' });
  expect(added).toEqual({ id: expect.any(String) as string });
  await gw.add({ schedule: { kind: 'every', everyMs: HOUR }, name: 'Often' });
  expect(await old('cron.list', {})).toMatchObject([
    { name: 'Often', cron: 'every 3600 s' },
    { ...(added as object), cron: '0 9 * * *' },
  ]);
});
