import AppWindow from '@lucide/svelte/icons/app-window';
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
import ScanText from '@lucide/svelte/icons/scan-text';
import Settings from '@lucide/svelte/icons/settings';
import Wrench from '@lucide/svelte/icons/wrench';
import type { Component } from 'svelte';
import { m } from '#app/i18n/messages.ts';
import { getPageGroups } from '#app/shell/page-groups.ts';

/** A search result other than a chat: a page, or a section of the settings. */
interface Destination {
  href: string;
  label: string;
  icon: Component<{ size?: number }>;
  kind: 'page' | 'setting';
}

/** Sections of the settings page, by id. */
const getSettingSections = () => [
  { id: 'providers', label: m.shell_setting_providers(), icon: Boxes },
  { id: 'model', label: m.shell_setting_model(), icon: Boxes },
  { id: 'upstream', label: m.shell_setting_upstream(), icon: Hourglass },
  { id: 'tool-servers', label: m.shell_setting_tool_servers(), icon: Wrench },
  { id: 'browser', label: m.shell_setting_browser(), icon: AppWindow },
  { id: 'scans', label: m.shell_setting_scans(), icon: ScanText },
  { id: 'appearance', label: m.shell_setting_appearance(), icon: Contrast },
  { id: 'voice', label: m.shell_setting_voice(), icon: AudioLines },
  { id: 'notifications', label: m.shell_setting_notifications(), icon: Bell },
  { id: 'connection', label: m.shell_setting_connection(), icon: Plug },
  { id: 'keys', label: m.shell_setting_keys(), icon: KeyRound },
  { id: 'storage', label: m.shell_setting_storage(), icon: HardDrive },
  { id: 'first-steps', label: m.shell_setting_first_steps(), icon: Footprints },
  { id: 'keyboard', label: m.shell_setting_keyboard(), icon: Keyboard },
];

const getDestinations = (): Destination[] => [
  ...getPageGroups().flatMap(({ pages }) => pages.map((page) => ({ ...page, kind: 'page' as const }))),
  { href: '/compare', label: m.shell_compare_link(), icon: Columns2, kind: 'page' },
  { href: '/devices', label: m.shell_devices_link(), icon: MonitorSmartphone, kind: 'page' },
  { href: '/settings', label: m.shell_settings(), icon: Settings, kind: 'page' },
  ...getSettingSections().map(({ id, ...rest }) => ({ ...rest, href: `/settings#${id}`, kind: 'setting' as const })),
];

/** Finds destinations whose words begin with all typed words, in any order; those that begin with the query come first. */
export function findDestinations(typed: string): Destination[] {
  const terms = toSearchWords(typed);
  if (terms.length === 0) return [];
  const matches = getDestinations().filter(({ label }) => {
    const words = toSearchWords(label);
    return terms.every((each) => words.some((word) => word.startsWith(each)));
  });
  const rankByStart = ({ label }: Destination): number => Number(!label.toLocaleLowerCase().startsWith(terms.join(' ')));
  return matches.sort((a, b) => rankByStart(a) - rankByStart(b));
}

const toSearchWords = (text: string): string[] => text.normalize('NFC').toLocaleLowerCase().split(/\s+/u).filter(Boolean);
