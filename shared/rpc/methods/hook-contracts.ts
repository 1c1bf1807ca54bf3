import { defineMethod } from '../contract.ts';
import { deliveryTarget } from '../delivery-target.ts';
import { id } from '../frames.ts';
import { agentId } from '../record-schemas.ts';
import { z } from '../zod.ts';

/** Maximum number of hooks of a vault. */
export const MAX_HOOKS = 100;

/** Senders of incoming hooks. Each has its own scheme to prove a call, and a readable text for its events. */
export const HOOK_PRESETS = ['json', 'standard', 'github', 'gitlab', 'stripe', 'sentry'] as const;
const hookPreset = z.enum(HOOK_PRESETS);
export type HookPreset = z.infer<typeof hookPreset>;

/** Events that outgoing hooks report. */
export const HOOK_EVENTS = [
  'run.completed',
  'run.failed',
  'approval.requested',
  'job.completed',
  'job.failed',
  'message.received',
  'delivery.failed',
] as const;
const hookEvent = z.enum(HOOK_EVENTS);
export type HookEvent = z.infer<typeof hookEvent>;

const hookName = z.string().regex(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, 'must be 1 to 63 lower-case letters, digits and hyphens');

/**
 * Text with `{{message}}` (a readable summary of the call), `{{event}}`, `{{body}}` (the whole body) and JSON paths such as
 * `{{$.issue.title}}` or `{{$.commits[*].message}}`.
 */
const template = z.string().trim().min(1).max(10_000);

const hookAction = z.discriminatedUnion('kind', [
  /** Sends the text to an agent, in the session `sessionId`; if left out, in a new session for each call. */
  z.strictObject({ kind: z.literal('agent'), agentId, sessionId: id.optional(), template }),
  /** Delivers the text as a message, without a model. */
  z.strictObject({ kind: z.literal('message'), target: deliveryTarget, template }),
  /** Runs a scheduled job. It gets nothing of the call. */
  z.strictObject({ kind: z.literal('job'), jobId: id }),
  /** Resumes a paused plan. It gets nothing of the call. */
  z.strictObject({ kind: z.literal('plan'), planId: id }),
]);
/** Action of an incoming hook. */
export type HookAction = z.infer<typeof hookAction>;

/** Types of events to accept, such as `issues` or `issues.opened`; empty for all. */
const acceptedEvents = z.array(z.string().trim().min(1).max(100)).max(50);
const outgoingUrl = z.string().trim().max(2000);
const ownSecret = z.string().min(16).max(500);

const common = {
  name: hookName,
  enabled: z.boolean(),
  createdAt: z.number(),
  /** The last characters of the secret. */
  secretHint: z.string(),
  /** Until when the secret before the last rotation is valid too, in milliseconds since the Unix epoch; null if it is not. */
  previousSecretUntil: z.number().nullable(),
};

const incomingHook = z.object({
  ...common,
  direction: z.literal('in'),
  /** Path on the bridge's API, such as `/hooks/deploys`. */
  path: z.string(),
  preset: hookPreset,
  events: z.array(z.string()),
  action: hookAction,
  /** Calls that the active host has rejected since its start; null if there were none. */
  rejected: z.object({ count: z.number().int(), at: z.number(), reason: z.string() }).nullable(),
});

const outgoingHook = z.object({
  ...common,
  direction: z.literal('out'),
  url: z.string(),
  events: z.array(hookEvent),
  /** Whether events contain the texts of messages and replies, not only IDs. */
  withText: z.boolean(),
  /** Whether the address may be in a private network. */
  allowPrivate: z.boolean(),
  /** Why the gateway has turned the hook off; null if it has not. */
  problem: z.string().nullable(),
});

const hook = z.discriminatedUnion('direction', [incomingHook, outgoingHook]);
export type IncomingHook = z.infer<typeof incomingHook>;
export type OutgoingHook = z.infer<typeof outgoingHook>;
export type Hook = z.infer<typeof hook>;

const hookCall = z.object({
  id: z.string(),
  /** Name of the hook. */
  hook: z.string(),
  direction: z.enum(['in', 'out']),
  /** Type of the event; empty if the sender names none. */
  event: z.string(),
  /** `ignored`: the hook does not accept this type of event. `completed`: the action has ended, or the receiver has accepted the event. */
  state: z.enum(['waiting', 'running', 'completed', 'ignored', 'failed']),
  at: z.number(),
  /** When the call ended; null before that. */
  endedAt: z.number().nullable(),
  /** The start of the text of an incoming call. */
  text: z.string(),
  /** Why it failed, or the last attempt did; null if it did not. */
  error: z.string().nullable(),
  /** Number of attempts to send an outgoing event. */
  attempts: z.number().int(),
  /** HTTP status of the last attempt; null if there was no response. */
  status: z.number().int().nullable(),
  /** When the next attempt is made; null if there is none. */
  nextAttemptAt: z.number().nullable(),
  /** The session and run of an agent's action. */
  agentId: z.string().optional(),
  sessionId: z.string().optional(),
  runId: z.string().optional(),
});
/** A call of a hook: a request that it has accepted, or an event that it sends. */
export type HookCall = z.infer<typeof hookCall>;

const hookInput = z.discriminatedUnion('direction', [
  z.strictObject({
    direction: z.literal('in'),
    name: hookName,
    preset: hookPreset,
    events: acceptedEvents.default([]),
    action: hookAction,
    /** A secret that the platform has given. Created if left out. */
    secret: ownSecret.optional(),
  }),
  z.strictObject({
    direction: z.literal('out'),
    name: hookName,
    url: outgoingUrl,
    events: z.array(hookEvent).min(1).max(HOOK_EVENTS.length),
    withText: z.boolean().default(false),
    allowPrivate: z.boolean().default(false),
  }),
]);
export type HookInput = z.infer<typeof hookInput>;

const hookChanges = z.strictObject({
  enabled: z.boolean().optional(),
  events: acceptedEvents.optional(),
  action: hookAction.optional(),
  url: outgoingUrl.optional(),
  withText: z.boolean().optional(),
  allowPrivate: z.boolean().optional(),
});
export type HookChanges = z.infer<typeof hookChanges>;

const hookResult = z.object({ hook });
const withSecret = hookResult.extend({
  /** The secret, which is not shown again. */
  secret: z.string(),
});
const callId = z.string().min(1).max(200);

/** Webhooks: calls from other services, and events for them. */
export const hookContracts = {
  'hooks.list': defineMethod({
    params: z.strictObject({}),
    result: z.object({ hooks: z.array(hook), count: z.number().int() }),
    docs: 'Lists the hooks by name.',
    policy: { scope: 'read' },
  }),
  'hooks.create': defineMethod({
    params: z.strictObject({ hook: hookInput }),
    result: withSecret,
    emits: ['hook.changed'],
    docs: 'Creates a hook: `in` for calls from another service to `/hooks/<name>`, `out` for events that are sent to an address. Returns `ALREADY_EXISTS` if the name is taken. Only for people.',
    fails: ['ALREADY_EXISTS', 'NOT_FOUND'],
    policy: { scope: 'admin', controlPlane: true },
  }),
  'hooks.update': defineMethod({
    params: z.strictObject({ name: hookName, ...hookChanges.shape }),
    result: hookResult,
    emits: ['hook.changed'],
    docs: 'Changes a hook; what is left out stays as it is. Only for people.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin', controlPlane: true },
  }),
  'hooks.delete': defineMethod({
    params: z.strictObject({ name: hookName }),
    result: z.object({ deleted: z.literal(true) }),
    emits: ['hook.changed'],
    docs: 'Deletes a hook with its calls. Chats that it started are kept. Only for people.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin', controlPlane: true },
  }),
  'hooks.rotate': defineMethod({
    params: z.strictObject({
      name: hookName,
      /** A secret that the platform has given. Created if left out. */
      secret: ownSecret.optional(),
    }),
    result: withSecret,
    emits: ['hook.changed'],
    docs: 'Replaces the secret of a hook. The secret before it stays valid for a day. Only for people.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin', controlPlane: true },
  }),
  'hooks.test': defineMethod({
    params: z.strictObject({ name: hookName }),
    result: z.object({ call: hookCall }),
    emits: ['hook.changed'],
    docs: 'Tests a hook. An incoming hook handles a sample call of its platform. An outgoing one sends the event `hook.test`; the response is returned after the first attempt. Only for people.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin', controlPlane: true },
  }),
  'hooks.deliveries': defineMethod({
    params: z.strictObject({
      name: hookName.optional(),
      state: hookCall.shape.state.optional(),
      limit: z.number().int().min(1).max(200).default(50),
    }),
    result: z.object({ deliveries: z.array(hookCall), count: z.number().int() }),
    docs: 'Lists calls of one hook or of all hooks, newest first.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'read' },
  }),
  'hooks.resend': defineMethod({
    params: z.strictObject({ id: callId }),
    result: z.object({ call: hookCall }),
    emits: ['hook.changed'],
    docs: 'Sends a failed event again, or handles a failed incoming call again. Only for people.',
    fails: ['NOT_FOUND'],
    policy: { scope: 'admin', controlPlane: true },
  }),
};
