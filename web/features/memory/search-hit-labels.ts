import { m } from '#app/i18n/messages.ts';
import { getCategoryLabel } from './memory-categories.ts';
import type { MemoryMatch } from './types.ts';

/** Describes the kind of a found passage. */
export function getHitKindLabel({ kind, category, speaker }: Pick<MemoryMatch, 'kind' | 'category' | 'speaker'>): string {
  switch (kind) {
    case 'memory':
      return category === undefined ? m.memory_kind_memory() : getCategoryLabel(category);
    case 'note':
      return m.memory_kind_note();
    case 'day':
      return m.memory_kind_day();
    case 'message':
      return speaker === undefined ? m.memory_kind_message() : (SPEAKER_LABELS.get(speaker)?.saidBy() ?? m.memory_said_by({ speaker }));
  }
}

const SPEAKER_LABELS: ReadonlyMap<string, { name: () => string; saidBy: () => string }> = new Map([
  ['user', { name: () => m.memory_speaker_user(), saidBy: () => m.memory_said_by_user() }],
  ['assistant', { name: () => m.memory_speaker_assistant(), saidBy: () => m.memory_said_by_assistant() }],
  ['tool', { name: () => m.memory_speaker_tool(), saidBy: () => m.memory_said_by_tool() }],
  ['system', { name: () => m.memory_speaker_system(), saidBy: () => m.memory_said_by_system() }],
]);

/** Name of a speaker, for the reader. */
export const getSpeakerLabel = (speaker: string): string => SPEAKER_LABELS.get(speaker)?.name() ?? speaker;
