import { createPrivateKey, createPublicKey, sign } from 'node:crypto';
import type { z } from 'zod';
import type { AllContracts, MethodName } from '#shared/rpc/methods/index.ts';

type Method = Exclude<MethodName, 'connect'>;
type Results = { [M in Method]?: z.output<AllContracts[M]['result']> };
type Params<M extends Method> = z.input<AllContracts[M]['params']>;

export interface Step {
  method: Method;
  params(results: Results): Record<string, unknown>;
  /** What it is refused with; else its result is to be of the contract's form. */
  code?: string;
  /** It may be refused so, where the machine lacks something. */
  lacking?: string;
  /** Asked right after it, before its answer. */
  beside?: Step;
}

export const step = <M extends Method>(method: M, params: Params<M> | ((results: Results) => Params<M>), code?: string): Step => ({
  method,
  params: (results) => (typeof params === 'function' ? params(results) : params) as Record<string, unknown>,
  ...(code === undefined ? {} : { code }),
});

/** As `step`, for what some machines cannot do. */
const perhaps = <M extends Method>(method: M, params: Params<M>, lacking: string): Step => ({ ...step(method, params), lacking });

/** As a device with an Ed25519 key answers a pairing code; always the same key, so that the protocol page stays the same. */
function answerTo(code: string): string {
  const pkcs8 = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), Buffer.alloc(32, 7)]);
  const privateKey = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' });
  const key = createPublicKey(privateKey).export({ type: 'spki', format: 'der' }).toString('base64url');
  return `${key}.${sign(null, Buffer.from(code), privateKey).toString('base64url')}`;
}

const path = 'main/main.jsonl';
const model = 'guide/guide';
const jobOf = (results: Results): string => results['cron.add']?.jobId ?? 'none';

/** Every method at least once, in an order in which each has what it needs, on a gateway that is new. */
export const STEPS: readonly Step[] = [
  step('health', {}),
  step('config.get', {}),
  step('config.set', { key: 'chat.model', value: model }),
  step('config.patch', { patch: { chat: { systemPrompt: 'Be brief.' } } }),
  step('config.file', {}),
  step('secrets.reload', {}),
  step('models.list', {}),
  step('models.providers', {}),
  step('models.catalog', {}),
  step('models.probe', { model }),
  step('models.probe', { model: 'none/none' }, 'NOT_FOUND'),
  step('tools.list', {}),
  step('tools.catalog', {}),
  step('agents.list', {}),
  step('agents.add', { agent_id: 'other', config: { name: 'Other' } }),
  step('agents.add', { agent_id: 'other' }, 'ALREADY_EXISTS'),
  step('agents.remove', { agent_id: 'other' }),
  step('agents.remove', { agent_id: 'other' }, 'NOT_FOUND'),
  step('agents.bindings', {}),
  step('chat.send', { message: 'What can you do?' }),
  step('chat.resend', {}),
  step('chat.edit', { message: 'How do I add a model?' }),
  step('chat.abort', { sessionId: 'main' }),
  step('chat.history', { sessionId: 'main' }),
  step('chat.history', { sessionId: 'none' }, 'NOT_FOUND'),
  step('chat.send', { message: '/tool plan_create {"goal": "Tea", "steps": ["Boil water", "Pour it"]}', sessionId: 'plan' }),
  step('plan.list', {}),
  step('plan.get', (results) => ({ planId: results['plan.list']?.plans[0]?.id ?? 'none' })),
  step('plan.get', { planId: 'none' }, 'NOT_FOUND'),
  step('plan.resume', (results) => ({ planId: results['plan.list']?.plans[0]?.id ?? 'none' })),
  step('plan.resume', (results) => ({ planId: results['plan.list']?.plans[0]?.id ?? 'none' })),
  step('plan.resume', { planId: 'none' }, 'NOT_FOUND'),
  step('plan.delete', (results) => ({ planId: results['plan.list']?.plans[0]?.id ?? 'none' })),
  step('plan.delete', { planId: 'none' }, 'NOT_FOUND'),
  step('workspace.write', { path: 'notes/a.md', content: '# A' }),
  step('workspace.write', { path: 'notes/b.bin', content: '!', encoding: 'base64' }, 'INVALID_PARAMS'),
  step('workspace.list', { under: 'notes' }),
  step('workspace.read', { path: 'notes/a.md' }),
  step('workspace.read', { path: 'none' }, 'NOT_FOUND'),
  step('chat.send', { message: '/tool send_file {"path": "notes/a.md"}', sessionId: 'plan' }),
  step('chat.attachment', (results) => {
    return { sessionId: 'plan', messageId: results['chat.send']?.messageId ?? 'none', index: 0 };
  }),
  step('chat.attachment', { sessionId: 'plan', messageId: 'none', index: 0 }, 'NOT_FOUND'),
  step('workspace.remove', { path: 'notes/a.md' }),
  step('workspace.remove', { path: 'notes/a.md' }, 'NOT_FOUND'),
  step('skills.list', {}),
  step('sessions.list', {}),
  step('sessions.list', { limit: 1, archived: false, paths: [path] }),
  step('sessions.list', { paths: ['none'] }, 'NOT_FOUND'),
  step('sessions.search', { query: 'add a model' }),
  step('sessions.search', {
    query: 'model',
    limit: 1,
    cursor: '1',
    agentId: 'main',
    folder: 'Work',
    tag: 'a',
    archived: false,
    pinned: false,
  }),
  step('sessions.preview', { path }),
  step('sessions.rename', { path, title: 'A name' }),
  step('sessions.pin', { path }),
  step('sessions.archive', { path, archived: false }),
  step('sessions.move', { path, folder: 'Work' }),
  step('sessions.tag', { path, tags: ['a'] }),
  step('sessions.fork', { path, sessionId: 'fork' }),
  step('sessions.fork', { path, sessionId: 'fork' }, 'ALREADY_EXISTS'),
  step('sessions.export', { path }),
  step('sessions.import', (results) => ({ content: results['sessions.export']?.content ?? 'none' })),
  step('sessions.reset', { path: 'main/fork.jsonl' }),
  step('sessions.delete', { path: 'main/fork.jsonl' }),
  step('sessions.delete', { path: 'main/fork.jsonl' }, 'NOT_FOUND'),
  step('usage.get', {}),
  step('usage.daily', { days: 3 }),
  step('usage.hourly', {}),
  step('browser.status', {}),
  step('browser.profiles', {}),
  step('browser.createProfile', { name: 'work' }),
  step('browser.createProfile', { name: 'work' }, 'ALREADY_EXISTS'),
  perhaps('browser.start', { profile: 'work' }, 'INTERNAL_ERROR'),
  perhaps('browser.open', { url: 'about:blank', profile: 'work' }, 'INTERNAL_ERROR'),
  step('browser.tabs', { profile: 'work' }),
  perhaps('browser.navigate', { url: 'about:blank', profile: 'work' }, 'INTERNAL_ERROR'),
  perhaps('browser.evaluate', { fn: 'document.body.innerHTML = "<input>"', profile: 'work' }, 'INTERNAL_ERROR'),
  perhaps('browser.click', { ref: 'input', profile: 'work' }, 'INTERNAL_ERROR'),
  perhaps('browser.type', { ref: 'input', text: 'Perch', profile: 'work' }, 'INTERNAL_ERROR'),
  perhaps('browser.screenshot', { profile: 'work' }, 'INTERNAL_ERROR'),
  perhaps('browser.snapshot', { profile: 'work' }, 'INTERNAL_ERROR'),
  perhaps('browser.focus', { tabId: 'tab-1', profile: 'work' }, 'INTERNAL_ERROR'),
  perhaps('browser.close', { tabId: 'tab-2', profile: 'work' }, 'INTERNAL_ERROR'),
  step('browser.start', { profile: 'none' }, 'NOT_FOUND'),
  step('browser.stop', { profile: 'work' }),
  step('browser.deleteProfile', { name: 'work' }),
  step('browser.deleteProfile', { name: 'work' }, 'NOT_FOUND'),
  step('backup.export', {}),
  step('backup.status', {}),
  step('backup.restore', (results) => ({ name: results['backup.status']?.backups[0]?.name ?? 'none.zip', dryRun: true })),
  step('backup.restore', { name: 'none.zip' }, 'NOT_FOUND'),
  step('channels.list', {}),
  step('channels.catalog', {}),
  step('channels.status', { channelId: 'webchat' }),
  step('channels.status', { channel_id: 'x' }, 'NOT_FOUND'),
  step('tts.voices', {}),
  perhaps('tts.speak', { text: 'Hello' }, 'INTERNAL_ERROR'),
  step('cron.add', { cron: '0 9 * * MON-FRI', message: 'What is new?', name: 'News' }),
  step('cron.add', { message: 'When?' }, 'INVALID_PARAMS'),
  step('cron.add', { cron: '0 9 * * *', schedule: { kind: 'every', everyMs: 60_000 }, message: 'Which?' }, 'INVALID_PARAMS'),
  step('cron.add', { cron: '0 25 * * *', message: 'Never' }, 'INVALID_PARAMS'),
  step('cron.add', { schedule: { kind: 'cron', expr: '0 9 * * *', tz: 'No/Where' }, message: 'Where?' }, 'INVALID_PARAMS'),
  step('cron.add', { schedule: { kind: 'at', at: 1 }, message: 'Too late' }, 'INVALID_PARAMS'),
  step('cron.add', { cron: '0 9 * * *', message: 'Who?', agentId: 'none' }, 'NOT_FOUND'),
  step('cron.list', {}),
  step('cron.update', (results) => ({ id: jobOf(results), schedule: { kind: 'every', everyMs: 3_600_000 } })),
  step('cron.update', { id: 'none' }, 'NOT_FOUND'),
  step('cron.toggle', (results) => ({ id: jobOf(results), enabled: false })),
  step('cron.toggle', { id: 'none', enabled: true }, 'NOT_FOUND'),
  step('cron.run', (results) => ({ id: jobOf(results) })),
  step('cron.run', { id: 'none' }, 'NOT_FOUND'),
  step('cron.history', (results) => ({ jobId: jobOf(results) })),
  step('cron.history', { jobId: 'none' }, 'NOT_FOUND'),
  step('cron.remove', (results) => ({ id: jobOf(results) })),
  step('cron.remove', { id: 'none' }, 'NOT_FOUND'),
  step('system.event', { text: 'A parcel has come' }),
  step('system.event', { text: 'The door bell rings', mode: 'now' }),
  step('system.heartbeat.last', {}),
  step('exec.create', { command: 'node', args: ['--version'] }),
  step('exec.create', { command: 'no such program' }, 'INVALID_PARAMS'),
  step('exec.get', (results) => ({ requestId: results['exec.create']?.request.requestId ?? 'none' })),
  step('exec.get', { requestId: 'none' }, 'NOT_FOUND'),
  step('approvals.list', {}),
  step('approvals.resolve', (results) => ({ id: results['approvals.list']?.approvals[0]?.id ?? 'none', decision: 'deny' })),
  step('approvals.resolve', { id: 'none', decision: 'approve' }, 'NOT_FOUND'),
  step('exec.create', { command: 'node', args: ['-p', '1'] }),
  step('exec.approve', (results) => ({ requestId: results['exec.create']?.request.requestId ?? 'none', always: true })),
  step('exec.approve', { requestId: 'none' }, 'NOT_FOUND'),
  step('tools.exec_approve', (results) => ({ requestId: results['exec.create']?.request.requestId ?? 'none', approved: true })),
  step('tools.exec_approve', { requestId: 'none', approved: false }, 'NOT_FOUND'),
  step('exec.deny', (results) => ({ requestId: results['exec.create']?.request.requestId ?? 'none' })),
  step('exec.deny', { requestId: 'none' }, 'NOT_FOUND'),
  step('exec.cancel', (results) => ({ requestId: results['exec.create']?.request.requestId ?? 'none' })),
  step('exec.cancel', { requestId: 'none' }, 'NOT_FOUND'),
  step('exec.list', {}),
  step('exec.policies', {}),
  step('exec.forget', (results) => ({ hash: results['exec.policies']?.policies[0]?.hash ?? 'none' })),
  step('exec.forget', { hash: 'none' }, 'NOT_FOUND'),
  step('sync.status', {}),
  step('sync.conflicts', {}),
  step('sync.resolve', { id: 'none', choice: 'keep' }),
  step('device.initiate', { deviceName: 'A phone', scopes: ['read'] }),
  step('device.complete', { code: 'AAAA-AAAA', response: answerTo('AAAAAAAA') }, 'NOT_FOUND'),
  step('device.complete', { code: 'AAAA-AAAA', response: 'no response' }, 'INVALID_PARAMS'),
  step('device.complete', (results) => {
    const code = results['device.initiate']?.code ?? 'ABCD2345';
    return { code, response: answerTo(code) };
  }),
  step('device.list', {}),
  step('device.revoke', (results) => ({ deviceId: results['device.complete']?.deviceId ?? 'none' })),
  step('device.revoke', { deviceId: 'none' }, 'NOT_FOUND'),
  step('keys.create', { name: 'Script', limits: { requestsPerMinute: 60, monthlyBudget: 5 } }),
  step('keys.list', {}),
  step('keys.update', (results) => ({ id: results['keys.create']?.key.id ?? 'none', limits: { monthlyBudget: 10 } })),
  step('keys.update', { id: 'none', name: 'Other' }, 'NOT_FOUND'),
  step('keys.revoke', (results) => ({ id: results['keys.create']?.key.id ?? 'none' })),
  step('keys.revoke', { id: 'none' }, 'NOT_FOUND'),
  step('logs.tail', { cursor: 'none' }, 'INVALID_PARAMS'),
  step('logs.tail', {}),
  step('logs.tail', { json: true, localTime: true, limit: 10 }),
  step('logs.tail', (results) => ({ cursor: results['logs.tail']?.cursor ?? '.0..0' })),
  step('system.logs', { level: 'warn' }),
  step('system.info', {}),
  step('system.presence', {}),
  step('web.status', {}),
  step('update.check', {}),
  step('doctor.run', {}),
];

/** Params of each method with which it is answered, as a step has them that needs nothing of the steps before. */
export const EXAMPLES: ReadonlyMap<string, Record<string, unknown>> = new Map(
  STEPS.filter(({ code }) => code === undefined)
    .toReversed()
    .map(({ method, params }) => [method, params({})]),
);
