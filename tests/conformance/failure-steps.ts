import { type Step, createStep } from './step.ts';

const path = 'main/none.jsonl';
const collectionId = 'none';
const aborted = (given: Step): Step => ({ ...given, beside: createStep('chat.abort', { sessionId: 'aborted' }) });
const profile = 'none';
/** A call that does not end until it is aborted. */
const waitForAbort = { tool: 'exec', args: { command: 'sleep 600' } };

/** With `STEPS`, every code that a contract has, in an order in which each has what it needs, on a gateway that is new. */
export const FAILURE_STEPS: readonly Step[] = [
  createStep('config.get', { key: 'no.such.setting' }, 'NOT_FOUND'),
  createStep('chat.send', { message: 'Who?', agentId: 'none' }, 'NOT_FOUND'),
  createStep('chat.send', { message: 'Who?', agentId: 'none', steer: true }, 'NOT_FOUND'),
  createStep('chat.resend', { sessionId: 'none' }, 'NOT_FOUND'),
  createStep('chat.edit', { sessionId: 'none', message: 'Nothing' }, 'NOT_FOUND'),
  aborted(createStep('chat.send', { sessionId: 'aborted', message: 'Never mind' }, 'ABORTED')),
  createStep('chat.send', { sessionId: 'aborted', message: 'What can you do?' }),
  aborted(createStep('chat.resend', { sessionId: 'aborted' }, 'ABORTED')),
  aborted(createStep('chat.edit', { sessionId: 'aborted', message: 'Never mind' }, 'ABORTED')),
  {
    ...createStep('chat.send', { sessionId: 'aborted', message: 'How do I add a model?' }),
    beside: createStep('chat.branch', { sessionId: 'aborted', messageId: 'none' }, 'ALREADY_EXISTS'),
  },
  {
    ...createStep('incognito.send', { runId: 'run-1', messages: [{ role: 'user', content: 'What can you do?' }] }),
    beside: createStep('incognito.send', { runId: 'run-1', messages: [{ role: 'user', content: 'Who?' }] }, 'ALREADY_EXISTS'),
  },
  {
    ...createStep('incognito.send', { runId: 'run-2', messages: [{ role: 'user', content: 'Never mind' }] }, 'ABORTED'),
    beside: createStep('incognito.abort', { runId: 'run-2' }),
  },
  {
    ...createStep('tools.run', { ...waitForAbort, callId: 'call' }, 'ABORTED'),
    beside: {
      ...createStep('tools.run', { ...waitForAbort, callId: 'call' }, 'ALREADY_EXISTS'),
      beside: createStep('tools.cancel', { callId: 'call' }),
    },
  },
  createStep('collections.folders', { path: '/no/such/folder' }, 'NOT_FOUND'),
  createStep('channels.confirmSender', { channelId: 'telegram', code: 'ABCD2345' }, 'NOT_FOUND'),
  createStep('skills.list', { agentId: 'none' }, 'NOT_FOUND'),
  createStep('collections.create', { name: 'None', sources: [{ kind: 'folder', path: '/none/at/all' }] }, 'NOT_FOUND'),
  createStep('collections.get', { collectionId }, 'NOT_FOUND'),
  createStep('collections.update', { collectionId, name: 'None' }, 'NOT_FOUND'),
  createStep('collections.documents', { collectionId }, 'NOT_FOUND'),
  createStep('collections.addFiles', { collectionId, files: [{ path: 'a.md', data: '' }] }, 'NOT_FOUND'),
  createStep('collections.removeDocuments', { collectionId, documentIds: ['none'] }, 'NOT_FOUND'),
  createStep('collections.refresh', { collectionId }, 'NOT_FOUND'),
  createStep('collections.cancel', { collectionId }, 'NOT_FOUND'),
  createStep('collections.search', { query: 'none', collectionIds: [collectionId] }, 'NOT_FOUND'),
  createStep('sessions.setCollections', { path, collectionIds: [] }, 'NOT_FOUND'),
  createStep('sessions.preview', { path }, 'NOT_FOUND'),
  createStep('sessions.subAgents', { path }, 'NOT_FOUND'),
  createStep('sessions.reset', { path }, 'NOT_FOUND'),
  createStep('sessions.rename', { path, title: 'A name' }, 'NOT_FOUND'),
  createStep('sessions.pin', { path }, 'NOT_FOUND'),
  createStep('sessions.archive', { path }, 'NOT_FOUND'),
  createStep('sessions.move', { path, folder: 'Work' }, 'NOT_FOUND'),
  createStep('sessions.tag', { path, tags: [] }, 'NOT_FOUND'),
  createStep('sessions.fork', { path }, 'NOT_FOUND'),
  createStep('sessions.export', { path }, 'NOT_FOUND'),
  createStep('sessions.export', { path: 'main/aborted.jsonl' }),
  createStep(
    'sessions.import',
    (results) => ({ content: results['sessions.export']?.content ?? '', sessionId: 'aborted' }),
    'ALREADY_EXISTS',
  ),
  createStep('sessions.import', (results) => ({ content: results['sessions.export']?.content ?? '', agentId: 'none' }), 'NOT_FOUND'),
  createStep('cron.add', { schedule: { kind: 'every', everyMs: 3_600_000 }, message: 'What can you do?' }),
  {
    ...createStep('cron.run', (results) => ({ id: results['cron.add']?.jobId ?? '' })),
    beside: createStep('cron.run', (results) => ({ id: results['cron.add']?.jobId ?? '' }), 'ALREADY_EXISTS'),
  },
  { ...createStep('dreaming.run', {}), beside: createStep('dreaming.run', { phase: 'DEEP' }, 'ALREADY_EXISTS') },
  createStep('browser.open', { url: 'about:blank', profile }, 'NOT_FOUND'),
  createStep('browser.navigate', { url: 'about:blank', profile }, 'NOT_FOUND'),
  createStep('browser.click', { ref: 'a', profile }, 'NOT_FOUND'),
  createStep('browser.type', { ref: 'a', text: 'a', profile }, 'NOT_FOUND'),
  createStep('browser.screenshot', { profile }, 'NOT_FOUND'),
  createStep('browser.snapshot', { profile }, 'NOT_FOUND'),
  createStep('browser.evaluate', { fn: '1', profile }, 'NOT_FOUND'),
  createStep('browser.focus', { tabId: 'tab-1', profile }, 'NOT_FOUND'),
  createStep('browser.close', { tabId: 'tab-1', profile }, 'NOT_FOUND'),
  createStep('browser.dialogs', { answer: 'dismiss', profile }, 'NOT_FOUND'),
  createStep('browser.download', { downloadId: 'none', profile }, 'NOT_FOUND'),
  createStep('browser.watch', { profile }, 'NOT_FOUND'),
  createStep('browser.input', { type: 'key', key: 'a', profile }, 'NOT_FOUND'),
];
