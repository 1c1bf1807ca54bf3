import AudioLines from '@lucide/svelte/icons/audio-lines';
import Bell from '@lucide/svelte/icons/bell';
import Boxes from '@lucide/svelte/icons/boxes';
import Columns2 from '@lucide/svelte/icons/columns-2';
import Contrast from '@lucide/svelte/icons/contrast';
import Footprints from '@lucide/svelte/icons/footprints';
import HardDrive from '@lucide/svelte/icons/hard-drive';
import Hourglass from '@lucide/svelte/icons/hourglass';
import Keyboard from '@lucide/svelte/icons/keyboard';
import KeyRound from '@lucide/svelte/icons/key-round';
import MonitorSmartphone from '@lucide/svelte/icons/monitor-smartphone';
import Plug from '@lucide/svelte/icons/plug';
import Settings from '@lucide/svelte/icons/settings';
import Wrench from '@lucide/svelte/icons/wrench';
import type { Component } from 'svelte';
import { PAGE_GROUPS } from './pages.ts';

/** What the search finds beside chats: a page, or a part of the settings. */
export interface Place {
  href: string;
  label: string;
  icon: Component<{ size?: number }>;
  kind: 'page' | 'setting';
}

/** The parts of the settings page, by their ids there. */
const SETTINGS = [
  { id: 'providers', label: 'Providers', icon: Boxes },
  { id: 'model', label: 'Default model', icon: Boxes },
  { id: 'upstream', label: 'Slow and failing servers', icon: Hourglass },
  { id: 'tool-servers', label: 'Tools', icon: Wrench },
  { id: 'appearance', label: 'Appearance', icon: Contrast },
  { id: 'voice', label: 'Voice', icon: AudioLines },
  { id: 'notifications', label: 'Notifications', icon: Bell },
  { id: 'connection', label: 'Connection', icon: Plug },
  { id: 'keys', label: 'Keys for programs', icon: KeyRound },
  { id: 'storage', label: 'Storage', icon: HardDrive },
  { id: 'first-steps', label: 'First steps', icon: Footprints },
  { id: 'keyboard', label: 'Keyboard', icon: Keyboard },
] as const;

const PLACES: readonly Place[] = [
  ...PAGE_GROUPS.flatMap(({ pages }) => pages.map((page) => ({ ...page, kind: 'page' as const }))),
  { href: '/compare', label: 'Compare models', icon: Columns2, kind: 'page' },
  { href: '/devices', label: 'Devices and sync', icon: MonitorSmartphone, kind: 'page' },
  { href: '/settings', label: 'Settings', icon: Settings, kind: 'page' },
  ...SETTINGS.map(({ id, ...rest }) => ({ ...rest, href: `/settings#${id}`, kind: 'setting' as const })),
];

/** Places whose name has words that begin with all that was typed, in any order; those that begin with it come first. */
export function placesNamed(typed: string): Place[] {
  const wanted = wordsOf(typed);
  if (wanted.length === 0) return [];
  const found = PLACES.filter(({ label }) => {
    const words = wordsOf(label);
    return wanted.every((each) => words.some((word) => word.startsWith(each)));
  });
  const begins = ({ label }: Place): number => Number(!label.toLocaleLowerCase().startsWith(wanted.join(' ')));
  return found.sort((one, other) => begins(one) - begins(other));
}

const wordsOf = (text: string): string[] => text.normalize('NFC').toLocaleLowerCase().split(/\s+/u).filter(Boolean);
