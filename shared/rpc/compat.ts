import { scheduleText } from '../cron/schedule-text.ts';
import type { MethodName, MethodResult } from './methods/index.ts';

/** How a method was answered before protocol 3. */
export interface EarlierShape {
  /** The method whose answer it is made from; null where there was no such method yet. */
  method: MethodName | null;
  shape(payload: unknown): unknown;
}

const earlier = <M extends MethodName>(method: M, shape: (payload: MethodResult<M>) => unknown): EarlierShape => ({
  method,
  shape: (payload) => shape(payload as MethodResult<M>),
});

/** The one codec for protocol 2 (interface document 1, section 4.2): handlers know nothing of it. */
const shapes = new Map<string, EarlierShape>([
  [
    'agents.list',
    earlier('agents.list', ({ agents }) => agents.map(({ id, config: { name = id, model = null } }) => ({ id, name, model }))),
  ],
  // What its schedule says, in words where it has no expression.
  ['cron.list', earlier('cron.list', ({ jobs }) => jobs.map((job) => ({ ...job, cron: scheduleText(job.schedule) })))],
  ['cron.add', earlier('cron.add', ({ jobId }) => ({ id: jobId }))],
  ['models.list', earlier('models.list', ({ models }) => models.map((model) => ({ id: model.key, ...model })))],
  ['channels.list', earlier('channels.list', ({ channels }) => channels.map(({ id, status }) => ({ id, type: id, status })))],
  ['tts.speak', { method: null, shape: (payload) => payload }],
  ['tools.list', earlier('tools.catalog', ({ tools }) => tools.map(({ name, description }) => ({ name, description })))],
]);

export const earlierShape = (method: string): EarlierShape | undefined => shapes.get(method);
