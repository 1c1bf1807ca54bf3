import type { MethodName } from '#shared/rpc/methods/index.ts';

/** Methods that change nothing, written out, for the contracts themselves weigh much. */
const READS: ReadonlySet<MethodName> = new Set<MethodName>([
  'health',
  'chat.history',
  'chat.attachment',
  'sessions.list',
  'sessions.preview',
  'sessions.export',
  'agents.list',
  'agents.bindings',
  'models.list',
  'models.providers',
  'models.probe',
  'config.get',
  'config.file',
  'tools.list',
  'tools.catalog',
  'usage.get',
  'usage.daily',
  'usage.hourly',
  'backup.status',
  'channels.list',
  'channels.status',
  'channels.catalog',
  'tts.voices',
  'workspace.list',
  'workspace.read',
  'plan.list',
  'plan.get',
  'skills.list',
  'cron.list',
  'cron.history',
  'system.heartbeat.last',
  'sync.status',
  'sync.conflicts',
  'device.list',
]);

/** Whether the method changes nothing: one that was cut because the page moved to another host may be called there again. */
export const isRead = (method: MethodName): boolean => READS.has(method);
