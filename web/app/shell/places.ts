import Archive from '@lucide/svelte/icons/archive';
import AudioLines from '@lucide/svelte/icons/audio-lines';
import BookOpen from '@lucide/svelte/icons/book-open';
import Bot from '@lucide/svelte/icons/bot';
import Brain from '@lucide/svelte/icons/brain';
import CalendarClock from '@lucide/svelte/icons/calendar-clock';
import ChartColumn from '@lucide/svelte/icons/chart-column';
import Cog from '@lucide/svelte/icons/cog';
import Columns2 from '@lucide/svelte/icons/columns-2';
import FolderClosed from '@lucide/svelte/icons/folder-closed';
import Globe from '@lucide/svelte/icons/globe';
import GraduationCap from '@lucide/svelte/icons/graduation-cap';
import Keyboard from '@lucide/svelte/icons/keyboard';
import Library from '@lucide/svelte/icons/library';
import LibraryBig from '@lucide/svelte/icons/library-big';
import ListTodo from '@lucide/svelte/icons/list-todo';
import MessagesSquare from '@lucide/svelte/icons/messages-square';
import MonitorSmartphone from '@lucide/svelte/icons/monitor-smartphone';
import Moon from '@lucide/svelte/icons/moon';
import Palette from '@lucide/svelte/icons/palette';
import PencilRuler from '@lucide/svelte/icons/pencil-ruler';
import ScrollText from '@lucide/svelte/icons/scroll-text';
import Send from '@lucide/svelte/icons/send';
import Shield from '@lucide/svelte/icons/shield';
import ShieldCheck from '@lucide/svelte/icons/shield-check';
import SlidersHorizontal from '@lucide/svelte/icons/sliders-horizontal';
import Sparkles from '@lucide/svelte/icons/sparkles';
import SquareSlash from '@lucide/svelte/icons/square-slash';
import SquareTerminal from '@lucide/svelte/icons/square-terminal';
import Stethoscope from '@lucide/svelte/icons/stethoscope';
import Trash2 from '@lucide/svelte/icons/trash-2';
import Webhook from '@lucide/svelte/icons/webhook';
import Wrench from '@lucide/svelte/icons/wrench';
import type { Component } from 'svelte';
import { m } from '../i18n/messages.ts';

/** A page, as it is named in navigation. */
export interface Place {
  href: string;
  label: string;
  icon: Component<{ size?: number }>;
}

/** A row of the sidebar, or a section of the settings, with the pages that belong to it; its own page is the first of them. */
export interface PlaceGroup extends Place {
  pages: readonly Place[];
}

const toGroup = (label: string, icon: Place['icon'], pages: readonly [Place, ...Place[]]): PlaceGroup => ({
  ...{ label, icon, pages },
  href: pages[0].href,
});
const toSinglePage = (place: Place): PlaceGroup => ({ ...place, pages: [place] });

/** Destinations in the sidebar. Pages of one are its tabs. */
export const getDestinations = (): readonly PlaceGroup[] => [
  toGroup(m.shell_knowledge(), Library, [
    { href: '/memory', label: m.shell_page_memory(), icon: Brain },
    { href: '/wiki', label: m.shell_page_wiki(), icon: BookOpen },
    { href: '/collections', label: m.shell_page_collections(), icon: LibraryBig },
    { href: '/dreaming', label: m.shell_page_dreaming(), icon: Moon },
  ]),
  toGroup(m.shell_automations(), CalendarClock, [
    { href: '/schedules', label: m.shell_page_schedules(), icon: CalendarClock },
    { href: '/plans', label: m.shell_page_plans(), icon: ListTodo },
    { href: '/webhooks', label: m.shell_page_hooks(), icon: Webhook },
    { href: '/approvals', label: m.shell_page_approvals(), icon: ShieldCheck },
  ]),
  toSinglePage({ href: '/annotate', label: m.shell_page_annotate(), icon: PencilRuler }),
  toSinglePage({ href: '/browser', label: m.shell_page_browser(), icon: Globe }),
];

/** Sections of the settings, most used first. */
export const getSettingsSections = (): readonly PlaceGroup[] => [
  toSinglePage({ href: '/settings', label: m.shell_settings_general(), icon: SlidersHorizontal }),
  toSinglePage({ href: '/settings/appearance', label: m.shell_setting_appearance(), icon: Palette }),
  toSinglePage({ href: '/models', label: m.shell_settings_models(), icon: Sparkles }),
  toSinglePage({ href: '/agents', label: m.shell_page_agents(), icon: Bot }),
  toSinglePage({ href: '/tools', label: m.shell_settings_tools(), icon: Wrench }),
  toSinglePage({ href: '/skills', label: m.shell_page_skills(), icon: GraduationCap }),
  toSinglePage({ href: '/settings/memory', label: m.shell_page_memory(), icon: Brain }),
  toSinglePage({ href: '/settings/voice', label: m.shell_setting_voice(), icon: AudioLines }),
  toSinglePage({ href: '/channels', label: m.shell_page_channels(), icon: Send }),
  toSinglePage({ href: '/settings/privacy', label: m.shell_settings_privacy(), icon: Shield }),
  toSinglePage({ href: '/devices', label: m.shell_devices_link(), icon: MonitorSmartphone }),
  toSinglePage({ href: '/usage', label: m.shell_page_usage(), icon: ChartColumn }),
  toSinglePage({ href: '/settings/keyboard', label: m.shell_setting_keyboard(), icon: Keyboard }),
  toGroup(m.shell_settings_advanced(), Cog, [
    { href: '/settings/advanced', label: m.shell_setting_upstream(), icon: Cog },
    { href: '/logs', label: m.shell_page_logs(), icon: ScrollText },
    { href: '/doctor', label: m.shell_page_doctor(), icon: Stethoscope },
    { href: '/console', label: m.shell_page_console(), icon: SquareTerminal },
    { href: '/backups', label: m.shell_page_backups(), icon: Archive },
    { href: '/trash', label: m.shell_page_trash(), icon: Trash2 },
  ]),
];

/** Pages that only links and the palette lead to. */
const getOtherPlaces = (): readonly Place[] => [
  { href: '/sessions', label: m.shell_page_chats(), icon: MessagesSquare },
  { href: '/projects', label: m.shell_page_projects(), icon: FolderClosed },
  { href: '/prompts', label: m.shell_page_prompts(), icon: SquareSlash },
  { href: '/compare', label: m.shell_compare_link(), icon: Columns2 },
];

/** All pages but chats. */
export const getPlaces = (): readonly Place[] => [
  ...getDestinations().flatMap(({ pages }) => pages),
  ...getOtherPlaces(),
  ...getSettingsSections().flatMap(({ pages }) => pages),
];

/** The one of `groups` that an address belongs to. */
export const findGroup = (groups: readonly PlaceGroup[], pathname: string): PlaceGroup | undefined =>
  groups.find(({ pages }) => pages.some(({ href }) => href === pathname || (href !== '/settings' && pathname.startsWith(`${href}/`))));
