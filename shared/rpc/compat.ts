import { scheduleText } from '../cron/schedule-text.ts';
import type { MethodName, MethodResult } from './methods/index.ts';

/** Response of a method before protocol 3. */
export interface EarlierShape {
  /** The method that the older one's result is derived from; null if the method did not exist. */
  method: MethodName | null;
  shape(payload: unknown): unknown;
}

const earlier = <M extends MethodName>(method: M, shape: (payload: MethodResult<M>) => unknown): EarlierShape => ({
  method,
  shape: (payload) => shape(payload as MethodResult<M>),
});

/** The only codec for protocol 2; handlers know nothing of it. */
const shapes = new Map<string, EarlierShape>([
  [
    'agents.list',
    earlier('agents.list', ({ agents }) => agents.map(({ id, config: { name = id, model = null } }) => ({ id, name, model }))),
  ],
  // The schedule as an expression, or as text if it has none.
  ['cron.list', earlier('cron.list', ({ jobs }) => jobs.map((job) => ({ ...job, cron: scheduleText(job.schedule) })))],
  ['cron.add', earlier('cron.add', ({ jobId }) => ({ id: jobId }))],
  ['models.list', earlier('models.list', ({ models }) => models.map((model) => ({ id: model.key, ...model })))],
  ['channels.list', earlier('channels.list', ({ channels }) => channels.map(({ id, status }) => ({ id, type: id, status })))],
  ['tts.speak', { method: null, shape: (payload) => payload }],
  ['tools.list', earlier('tools.catalog', ({ tools }) => tools.map(({ name, description }) => ({ name, description })))],
]);

export const earlierShape = (method: string): EarlierShape | undefined => shapes.get(method);
