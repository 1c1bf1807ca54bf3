import type { ThinkingLevel } from '#shared/rpc/model-parameters.ts';
import { m } from '../i18n/messages.ts';

/** Thinking levels with their names; an empty value is inherited. */
export const getThinkingLevels = (): { value: ThinkingLevel | ''; label: string }[] => [
  { value: '', label: m.parameters_auto() },
  { value: 'off', label: m.parameters_thinking_off() },
  { value: 'low', label: m.parameters_low() },
  { value: 'medium', label: m.parameters_medium() },
  { value: 'high', label: m.parameters_high() },
  { value: 'max', label: m.parameters_thinking_max() },
];
