import { formatSchedule } from '../cron/format-schedule.ts';
import type { MethodName, MethodResult } from './methods/index.ts';

/** Response of a method before protocol 3. */
export interface LegacyResult {
  /** The method that the older one's result is derived from; null if the method did not exist. */
  method: MethodName | null;
  shape(payload: unknown): unknown;
}

const fromMethod = <M extends MethodName>(method: M, shape: (payload: MethodResult<M>) => unknown): LegacyResult => ({
  method,
  shape: (payload) => shape(payload as MethodResult<M>),
});

/** The only codec for protocol 2; handlers know nothing of it. */
const LEGACY_RESULTS = new Map<string, LegacyResult>([
  [
    'agents.list',
    fromMethod('agents.list', ({ agents }) => agents.map(({ id, config: { name = id, model = null } }) => ({ id, name, model }))),
  ],
  // The schedule as an expression, or as text if it has none.
  ['cron.list', fromMethod('cron.list', ({ jobs }) => jobs.map((job) => ({ ...job, cron: formatSchedule(job.schedule) })))],
  ['cron.add', fromMethod('cron.add', ({ jobId }) => ({ id: jobId }))],
  ['models.list', fromMethod('models.list', ({ models }) => models.map((model) => ({ id: model.key, ...model })))],
  ['channels.list', fromMethod('channels.list', ({ channels }) => channels.map(({ id, status }) => ({ id, type: id, status })))],
  ['tts.speak', { method: null, shape: (payload) => payload }],
  ['tools.list', fromMethod('tools.catalog', ({ tools }) => tools.map(({ name, description }) => ({ name, description })))],
]);

export const findLegacyResult = (method: string): LegacyResult | undefined => LEGACY_RESULTS.get(method);
