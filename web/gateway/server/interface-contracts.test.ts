import { describe, expect } from 'vitest';
import type { Contracts } from '#shared/rpc/contract.ts';
import { contracts } from '#shared/rpc/methods/index.ts';
import { backupEntry } from '#shared/rpc/methods/backup-contracts.ts';
import { channelEntry } from '#shared/rpc/methods/channel-contracts.ts';
import { job, cronRun } from '#shared/rpc/methods/cron-contracts.ts';
import { execRequest } from '#shared/rpc/methods/exec-contracts.ts';
import { plan, planStep } from '#shared/rpc/methods/plan-contracts.ts';
import { doctorCheck } from '#shared/rpc/methods/status-contracts.ts';
import { presenceEntry } from '#shared/rpc/presence-entry.ts';
import { voiceEntry } from '#shared/rpc/methods/tts-contracts.ts';
import { agentConfig, historyMessage, modelEntry, sessionEntry, usage } from '#shared/rpc/record-schemas.ts';
import { z } from '#shared/rpc/zod.ts';
import { requirements, verifies } from '../../../tests/requirements.ts';
import { createTestGateway } from '../../../tests/support/test-gateway.ts';

interface JsonSchema {
  properties?: Record<string, JsonSchema & { enum?: string[]; minimum?: number; maximum?: number; default?: unknown }>;
  required?: string[];
}
const toJsonSchema = (schema: z.ZodType, io: 'input' | 'output'): JsonSchema =>
  z.toJSONSchema(schema, { io, unrepresentable: 'any', reused: 'inline' }) as JsonSchema;

/** The requirements whose ids match, and the names in backticks in each. */
const findRows = (pattern: RegExp): [id: string, ...quoted: string[]][] =>
  requirements
    .filter(({ id }) => pattern.test(id))
    .map(({ id, text }) => [id, ...[...text.matchAll(/`([^`]+)`/g)].map(([, quoted = '']) => quoted)]);

/** The names of a list such as `a, b?: [x], ...`, and whether each may be left out. */
const parseNames = (list: string): [name: string, optional: boolean][] =>
  [...list.matchAll(/(?:^|[{,] ?)([A-Za-z]\w*)(\?)?/g)].map(([, name = '', optional]) => [name, optional !== undefined]);

/** Params that the document lists as given, and which may come in another form: OpenClaw's `client`, a job's `schedule`, the earlier name of a channel. */
const ALTERNATIVE_PARAMS: Record<string, string[]> = {
  connect: ['clientName', 'auth'],
  'cron.add': ['cron'],
  'channels.status': ['channelId'],
};

describe('the tables of the interface document', () => {
  verifies(
    [
      'connect/row',
      'health/row',
      'chat.send/row',
      'chat.abort/row',
      'chat.history/row',
      'chat.resend/row',
      'chat.edit/row',
      'sessions.list/row',
      'sessions.preview/row',
      'sessions.delete/row',
      'sessions.reset/row',
      'agents.list/row',
      'agents.add/row',
      'agents.remove/row',
      'channels.list/row',
      'channels.status/row',
      'models.list/row',
      'models.providers/row',
      'config.get/row',
      'config.set/row',
      'config.patch/row',
      'browser.status/row',
      'browser.start/row',
      'browser.stop/row',
      'browser.tabs/row',
      'browser.open/row',
      'browser.navigate/row',
      'browser.click/row',
      'browser.type/row',
      'browser.screenshot/row',
      'browser.snapshot/row',
      'browser.evaluate/row',
      'browser.profiles/row',
      'browser.createProfile/row',
      'browser.deleteProfile/row',
      'browser.focus/row',
      'browser.close/row',
      'cron.list/row',
      'cron.add/row',
      'cron.toggle/row',
      'cron.remove/row',
      'cron.history/row',
      'tools.list/row',
      'tools.catalog/row',
      'exec.list/row',
      'exec.get/row',
      'exec.approve/row',
      'exec.deny/row',
      'exec.create/row',
      'secrets.reload/row',
      'plan.list/row',
      'plan.get/row',
      'plan.resume/row',
      'plan.delete/row',
      'backup.export/row',
      'backup.status/row',
      'device.initiate/row',
      'device.complete/row',
      'logs.tail/row',
      'system.logs/row',
      'system.info/row',
      'system.event/row',
      'system.heartbeat.last/row',
      'system.presence/row',
      'usage.get/row',
      'usage.daily/row',
      'usage.hourly/row',
      'doctor.run/row',
      'skills.list/row',
      'tts.speak/row',
      'tts.voices/row',
      'update.check/row',
      'web.status/row',
    ],
    'each method has the params and results of its row',
    () => {
      const found = findRows(/^(?!cli\.).*\/row$/);
      expect(found).toHaveLength(73);
      for (const [id, call = '', answer = ''] of found) {
        const method = id.replace('/row', '') as keyof typeof contracts;
        const { params, result } = contracts[method];
        const taken = toJsonSchema(params, 'input');
        const given = parseNames(call.slice(method.length));
        const needed = given.flatMap(([name, optional]) => (optional || ALTERNATIVE_PARAMS[method]?.includes(name) ? [] : name));
        for (const [name] of given) expect(Object.keys(taken.properties ?? {}), method).toContain(name);
        expect([...(taken.required ?? [])].sort(), method).toEqual(needed.sort());
        expectNames(result, answer, method);
      }
    },
  );

  verifies(
    [
      'record.session/fields',
      'record.agent/fields',
      'record.channel/fields',
      'record.channel-capabilities/fields',
      'record.media-limits/fields',
      'record.model/fields',
      'record.job/fields',
      'record.job-run/fields',
      'record.exec/fields',
      'record.tool/fields',
      'record.plan/fields',
      'record.backup/fields',
      'record.voice/fields',
      'record.presence/fields',
      'record.doctor-check/fields',
      'record.usage-summary/fields',
      'record.session/more',
      'record.message/fields',
      'record.usage/fields',
      'record.agent-config/fields',
      'record.channel-metrics/fields',
      'record.job/more',
      'record.exec/more',
      'record.plan/more',
      'record.plan-step/fields',
      'record.day/fields',
    ],
    'each record has its fields',
    () => {
      const { metrics, capabilities, media_limits } = channelEntry.shape;
      const schemas: Record<string, z.ZodType> = {
        ...{ session: sessionEntry, agent: contracts['agents.list'].result.shape.agents.element, 'agent-config': agentConfig },
        ...{
          channel: channelEntry,
          'channel-capabilities': capabilities,
          'media-limits': media_limits,
          'channel-metrics': metrics.unwrap(),
        },
        ...{ model: modelEntry, job, 'job-run': cronRun, exec: execRequest, plan, 'plan-step': planStep, backup: backupEntry },
        ...{
          tool: contracts['tools.catalog'].result.shape.tools.element,
          voice: voiceEntry,
          presence: presenceEntry,
          'doctor-check': doctorCheck,
        },
        ...{ 'usage-summary': contracts['usage.get'].result, day: contracts['usage.daily'].result.shape.dailyBreakdown.element },
        ...{ message: historyMessage, usage },
      };
      for (const [id, ...quoted] of findRows(/^record\./)) {
        const schema = schemas[/^record\.([\w-]+)/.exec(id)?.[1] ?? ''];
        expect(schema, id).toBeDefined();
        if (schema) expectNames(schema, quoted.at(-1) ?? '', id);
      }
    },
  );

  verifies(
    [
      'values.channel/status',
      'values.job-run/status',
      'values.exec/status',
      'values.plan/status',
      'values.presence/state',
      'values.doctor/severity',
      'values.system-logs/level',
      'values.system-event/mode',
      'values.system-info/host',
    ],
    'each value is one of those',
    () => {
      const of = (schema: z.ZodType, name: string): string[] | undefined => toJsonSchema(schema, 'output').properties?.[name]?.enum;
      const sets: Record<string, string[] | undefined> = {
        'values.channel/status': of(channelEntry, 'status'),
        'values.job-run/status': of(cronRun, 'status'),
        'values.exec/status': of(execRequest, 'status'),
        'values.plan/status': of(plan, 'status'),
        'values.presence/state': of(presenceEntry, 'state'),
        'values.doctor/severity': of(doctorCheck, 'severity'),
        'values.system-logs/level': of(contracts['system.logs'].params, 'level'),
        'values.system-event/mode': of(contracts['system.event'].params, 'mode'),
        'values.system-info/host': of(contracts['system.info'].result, 'host'),
      };
      for (const [id, ...quoted] of findRows(/^values\./))
        expect(sets[id], id).toEqual(expect.arrayContaining(quoted.at(-1)?.split(', ') ?? []));
      for (const [id, ...quoted] of findRows(/^values\./)) expect(sets[id], id).toHaveLength(quoted.at(-1)?.split(', ').length ?? 0);
    },
  );

  verifies(
    [
      'bounds.chat.history/limit',
      'bounds.sessions.preview/limit',
      'bounds.cron.history/limit',
      'bounds.logs.tail/limit',
      'bounds.system.logs/lines',
      'bounds.usage.get/days',
      'bounds.usage.daily/days',
      'bounds.usage.hourly/days',
    ],
    'each limit has its bounds and its default',
    () => {
      for (const [id, name = '', method = ''] of findRows(/^bounds\./)) {
        const [, least, most, usual] = /is (\d+)–(\d+), (\d+) /.exec(requirements.find((each) => each.id === id)?.text ?? '') ?? [];
        expect(toJsonSchema(contracts[method as keyof typeof contracts].params, 'input').properties?.[name], id).toMatchObject({
          ...{ minimum: Number(least), maximum: Number(most), default: Number(usual) },
        });
      }
    },
  );
});

verifies('limits/control-plane', 'are what changes configuration, agents, secrets, devices, keys, budgets and hooks', () => {
  for (const [method, { policy }] of Object.entries(contracts as Contracts))
    expect(policy.controlPlane ?? false, method).toBe(
      /^(config|agents|secrets|device|keys|budgets|hooks)\./.test(method) && policy.scope !== 'read',
    );
});

verifies('exec/admin', 'which a caller with `write` does not have', async () => {
  await using gw = await createTestGateway({ useGuide: true });
  const { client } = await gw.client({ scopes: ['write'] });
  for (const [method, params] of [
    ['exec.approve', { requestId: 'none' }],
    ['exec.deny', { requestId: 'none' }],
    ['tools.exec_approve', { requestId: 'none', approved: true }],
    ['approvals.resolve', { id: 'none', decision: 'approve' }],
  ] as const)
    await expect(client.request(method, params), method).rejects.toMatchObject({ code: 'AUTH_REQUIRED' });
  await expect(client.request('exec.cancel', { requestId: 'none' })).rejects.toMatchObject({ code: 'NOT_FOUND' });
});

verifies('browser/default-profile', 'for each method that takes one', () => {
  const found = Object.entries(contracts).flatMap(([method, { params }]) => {
    const { profile } = toJsonSchema(params, 'input').properties ?? {};
    return profile ? [[method, profile.default]] : [];
  });
  expect(found).toHaveLength(19);
  for (const [method, profile] of found) expect(profile, String(method)).toBe('default');
});

/** Asserts that the result has these names; those without `?` are required. */
function expectNames(schema: z.ZodType, list: string, what: string): void {
  const { properties = {}, required = [] } = toJsonSchema(schema, 'output');
  for (const [name, optional] of parseNames(list)) {
    expect(Object.keys(properties), what).toContain(name);
    if (!optional) expect(required, what).toContain(name);
  }
}
