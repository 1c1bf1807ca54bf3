import type { Hook, HookCall, HookEvent, HookPreset } from '#shared/rpc/methods/hook-contracts.ts';
import { m } from '#app/i18n/messages.ts';

/** Names of platforms are the same in all languages. */
export const PRESET_LABELS: Readonly<Record<HookPreset, () => string>> = {
  json: () => m.hooks_preset_json(),
  standard: () => m.hooks_preset_standard(),
  github: () => 'GitHub',
  gitlab: () => 'GitLab',
  stripe: () => 'Stripe',
  sentry: () => 'Sentry',
};

export const EVENT_LABELS: Readonly<Record<HookEvent, () => string>> = {
  'run.completed': () => m.hooks_event_run_completed(),
  'run.failed': () => m.hooks_event_run_failed(),
  'approval.requested': () => m.hooks_event_approval_requested(),
  'job.completed': () => m.hooks_event_job_completed(),
  'job.failed': () => m.hooks_event_job_failed(),
  'message.received': () => m.hooks_event_message_received(),
  'delivery.failed': () => m.hooks_event_delivery_failed(),
};

export const STATE_LABELS: Readonly<Record<HookCall['state'], () => string>> = {
  waiting: () => m.hooks_state_waiting(),
  running: () => m.hooks_state_running(),
  completed: () => m.hooks_state_completed(),
  ignored: () => m.hooks_state_ignored(),
  failed: () => m.hooks_state_failed(),
};

/** One line about what a hook does. */
export function describeHook(hook: Hook): string {
  if (hook.direction === 'out') return hook.events.map((event) => EVENT_LABELS[event]()).join(', ');
  const sender = PRESET_LABELS[hook.preset]();
  switch (hook.action.kind) {
    case 'agent':
      return m.hooks_does_agent({ sender, agent: hook.action.agentId });
    case 'message':
      return m.hooks_does_message({ sender });
    case 'job':
      return m.hooks_does_job({ sender });
    case 'plan':
      return m.hooks_does_plan({ sender });
  }
}

/** Address of an incoming hook at the bridge that serves this page. */
export const toHookAddress = (path: string): string => location.origin + path;

/** A name for a hook, from typed text. */
export const toHookName = (text: string): string =>
  text
    .toLowerCase()
    .normalize('NFD')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 63)
    .replace(/-+$/, '');
