import { type Step, step } from './step.ts';

const path = 'main/none.jsonl';
const aborted = (given: Step): Step => ({ ...given, beside: step('chat.abort', { sessionId: 'aborted' }) });
const profile = 'none';
/** A call that does not end until it is aborted. */
const waits = { tool: 'exec', args: { command: 'sleep 600' } };

/** With `STEPS`, every code that a contract has, in an order in which each has what it needs, on a gateway that is new. */
export const FAILURES: readonly Step[] = [
  step('config.get', { key: 'no.such.setting' }, 'NOT_FOUND'),
  step('chat.send', { message: 'Who?', agentId: 'none' }, 'NOT_FOUND'),
  step('chat.send', { message: 'Who?', agentId: 'none', steer: true }, 'NOT_FOUND'),
  step('chat.resend', { sessionId: 'none' }, 'NOT_FOUND'),
  step('chat.edit', { sessionId: 'none', message: 'Nothing' }, 'NOT_FOUND'),
  aborted(step('chat.send', { sessionId: 'aborted', message: 'Never mind' }, 'ABORTED')),
  step('chat.send', { sessionId: 'aborted', message: 'What can you do?' }),
  aborted(step('chat.resend', { sessionId: 'aborted' }, 'ABORTED')),
  aborted(step('chat.edit', { sessionId: 'aborted', message: 'Never mind' }, 'ABORTED')),
  {
    ...step('chat.send', { sessionId: 'aborted', message: 'How do I add a model?' }),
    beside: step('chat.branch', { sessionId: 'aborted', messageId: 'none' }, 'ALREADY_EXISTS'),
  },
  {
    ...step('incognito.send', { runId: 'run-1', messages: [{ role: 'user', content: 'What can you do?' }] }),
    beside: step('incognito.send', { runId: 'run-1', messages: [{ role: 'user', content: 'Who?' }] }, 'ALREADY_EXISTS'),
  },
  {
    ...step('incognito.send', { runId: 'run-2', messages: [{ role: 'user', content: 'Never mind' }] }, 'ABORTED'),
    beside: step('incognito.abort', { runId: 'run-2' }),
  },
  {
    ...step('tools.run', { ...waits, callId: 'call' }, 'ABORTED'),
    beside: { ...step('tools.run', { ...waits, callId: 'call' }, 'ALREADY_EXISTS'), beside: step('tools.cancel', { callId: 'call' }) },
  },
  step('channels.confirmSender', { channelId: 'telegram', code: 'ABCD2345' }, 'NOT_FOUND'),
  step('skills.list', { agentId: 'none' }, 'NOT_FOUND'),
  step('sessions.preview', { path }, 'NOT_FOUND'),
  step('sessions.reset', { path }, 'NOT_FOUND'),
  step('sessions.rename', { path, title: 'A name' }, 'NOT_FOUND'),
  step('sessions.pin', { path }, 'NOT_FOUND'),
  step('sessions.archive', { path }, 'NOT_FOUND'),
  step('sessions.move', { path, folder: 'Work' }, 'NOT_FOUND'),
  step('sessions.tag', { path, tags: [] }, 'NOT_FOUND'),
  step('sessions.fork', { path }, 'NOT_FOUND'),
  step('sessions.export', { path }, 'NOT_FOUND'),
  step('sessions.export', { path: 'main/aborted.jsonl' }),
  step('sessions.import', (results) => ({ content: results['sessions.export']?.content ?? '', sessionId: 'aborted' }), 'ALREADY_EXISTS'),
  step('sessions.import', (results) => ({ content: results['sessions.export']?.content ?? '', agentId: 'none' }), 'NOT_FOUND'),
  step('cron.add', { schedule: { kind: 'every', everyMs: 3_600_000 }, message: 'What can you do?' }),
  {
    ...step('cron.run', (results) => ({ id: results['cron.add']?.jobId ?? '' })),
    beside: step('cron.run', (results) => ({ id: results['cron.add']?.jobId ?? '' }), 'ALREADY_EXISTS'),
  },
  { ...step('dreaming.run', {}), beside: step('dreaming.run', { phase: 'DEEP' }, 'ALREADY_EXISTS') },
  step('browser.open', { url: 'about:blank', profile }, 'NOT_FOUND'),
  step('browser.navigate', { url: 'about:blank', profile }, 'NOT_FOUND'),
  step('browser.click', { ref: 'a', profile }, 'NOT_FOUND'),
  step('browser.type', { ref: 'a', text: 'a', profile }, 'NOT_FOUND'),
  step('browser.screenshot', { profile }, 'NOT_FOUND'),
  step('browser.snapshot', { profile }, 'NOT_FOUND'),
  step('browser.evaluate', { fn: '1', profile }, 'NOT_FOUND'),
  step('browser.focus', { tabId: 'tab-1', profile }, 'NOT_FOUND'),
  step('browser.close', { tabId: 'tab-1', profile }, 'NOT_FOUND'),
  step('browser.dialogs', { answer: 'dismiss', profile }, 'NOT_FOUND'),
  step('browser.download', { downloadId: 'none', profile }, 'NOT_FOUND'),
  step('browser.watch', { profile }, 'NOT_FOUND'),
  step('browser.input', { type: 'key', key: 'a', profile }, 'NOT_FOUND'),
];
