import type { ThinkingLevel } from '#shared/rpc/model-parameters.ts';
import { m } from '../i18n/messages.ts';

/** Thinking levels with their names; an empty value is inherited. */
export const getThinkingLevels = (): { value: ThinkingLevel | ''; label: string }[] => [
  { value: '', label: m.state_level_auto() },
  { value: 'off', label: m.state_level_off() },
  { value: 'low', label: m.state_level_low() },
  { value: 'medium', label: m.state_level_medium() },
  { value: 'high', label: m.state_level_high() },
  { value: 'max', label: m.state_level_max() },
];
