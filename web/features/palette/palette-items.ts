import Archive from '@lucide/svelte/icons/archive';
import Bell from '@lucide/svelte/icons/bell';
import BellRing from '@lucide/svelte/icons/bell-ring';
import Boxes from '@lucide/svelte/icons/boxes';
import Brain from '@lucide/svelte/icons/brain';
import ClipboardCopy from '@lucide/svelte/icons/clipboard-copy';
import Contrast from '@lucide/svelte/icons/contrast';
import Download from '@lucide/svelte/icons/download';
import FileCode from '@lucide/svelte/icons/file-code';
import FolderPlus from '@lucide/svelte/icons/folder-plus';
import Footprints from '@lucide/svelte/icons/footprints';
import HardDrive from '@lucide/svelte/icons/hard-drive';
import HatGlasses from '@lucide/svelte/icons/hat-glasses';
import ImagePlus from '@lucide/svelte/icons/image-plus';
import Keyboard from '@lucide/svelte/icons/keyboard';
import KeyRound from '@lucide/svelte/icons/key-round';
import ListTodo from '@lucide/svelte/icons/list-todo';
import Monitor from '@lucide/svelte/icons/monitor';
import Moon from '@lucide/svelte/icons/moon';
import PanelLeft from '@lucide/svelte/icons/panel-left';
import Plug from '@lucide/svelte/icons/plug';
import Plus from '@lucide/svelte/icons/plus';
import Radio from '@lucide/svelte/icons/radio';
import ScanText from '@lucide/svelte/icons/scan-text';
import Sparkles from '@lucide/svelte/icons/sparkles';
import Square from '@lucide/svelte/icons/square';
import SquarePen from '@lucide/svelte/icons/square-pen';
import Sun from '@lucide/svelte/icons/sun';
import Globe from '@lucide/svelte/icons/globe';
import type { Component } from 'svelte';
import { goto } from '$app/navigation';
import type { SessionEntry } from '#shared/rpc/record-schemas.ts';
import { saveFile } from '#app/files/save-file.ts';
import { m } from '#app/i18n/messages.ts';
import { appearance } from '#app/shell/appearance.svelte.ts';
import { layout } from '#app/shell/layout.svelte.ts';
import { findGroup, getDestinations, getPlaces, getSettingsSections } from '#app/shell/places.ts';
import { SETTING_PAGES } from '#app/shell/setting-pages.ts';
import type { ShortcutName } from '#app/shell/shortcuts.ts';
import { exportChat } from '#app/state/export-chat.ts';
import { sessions } from '#app/state/session-list.svelte.ts';

/** An entry of the palette. */
export interface PaletteItem {
  /** Stored among the recent ones. */
  id: string;
  label: string;
  icon: Component<{ size?: number }>;
  /** Further words by which it is found. */
  keywords?: string;
  detail?: string;
  /** Shortcut that does the same. */
  shortcut?: ShortcutName;
  run: () => unknown;
}

/** Actions that are possible now. `chat`: the chat on screen. */
export function getActions(chat: SessionEntry | null): PaletteItem[] {
  const shortcut = (name: ShortcutName, label: string, icon: PaletteItem['icon']): PaletteItem[] =>
    layout.hasAction(name) ? [{ id: name, label, icon, shortcut: name, run: () => layout.runAction(name) }] : [];
  const to = (id: string, label: string, icon: PaletteItem['icon'], href: string): PaletteItem => ({
    ...{ id, label, icon },
    run: () => goto(href),
  });
  const isDark = matchMedia('(prefers-color-scheme: dark)').matches ? appearance.theme !== 'light' : appearance.theme === 'dark';
  return [
    ...shortcut('newChat', m.shell_new_chat(), SquarePen),
    to('incognito', m.shell_incognito(), HatGlasses, '/incognito'),
    ...(chat?.running === true ? shortcut('stop', m.shell_shortcut_stop(), Square) : []),
    ...shortcut('models', m.shell_shortcut_models(), Sparkles),
    isDark
      ? { id: 'theme', label: m.palette_theme_light(), icon: Sun, run: () => appearance.choose({ theme: 'light' }) }
      : { id: 'theme', label: m.palette_theme_dark(), icon: Moon, run: () => appearance.choose({ theme: 'dark' }) },
    ...(appearance.theme === 'system'
      ? []
      : [{ id: 'theme-system', label: m.palette_theme_system(), icon: Monitor, run: () => appearance.choose({ theme: 'system' }) }]),
    appearance.contrast === 'more'
      ? { id: 'contrast', label: m.palette_contrast_system(), icon: Contrast, run: () => appearance.choose({ contrast: 'system' }) }
      : { id: 'contrast', label: m.palette_contrast_more(), icon: Contrast, run: () => appearance.choose({ contrast: 'more' }) },
    ...(chat
      ? [
          { id: 'export', label: m.palette_export(), icon: Download, run: () => saveChat(chat) },
          { id: 'archive', label: m.palette_archive(), icon: Archive, run: () => sessions.archive(chat, true) },
        ]
      : []),
    ...shortcut('copyReply', m.shell_shortcut_copy_reply(), ClipboardCopy),
    ...shortcut('copyCode', m.shell_shortcut_copy_code(), FileCode),
    to('collection', m.palette_new_collection(), FolderPlus, '/collections?new'),
    to('project', m.palette_project(), FolderPlus, '/projects?new'),
    to('plan', m.palette_plan(), ListTodo, '/plans'),
    to('drawing', m.palette_drawing(), ImagePlus, '/annotate'),
    to('provider', m.palette_add_provider(), Plus, '/models#providers'),
    ...shortcut('sidebar', m.shell_shortcut_sidebar(), PanelLeft),
    ...shortcut('help', m.shell_shortcuts(), Keyboard),
  ];
}

async function saveChat(chat: SessionEntry): Promise<void> {
  const file = await exportChat(chat, 'markdown');
  saveFile(file.name, file);
}

const PLACE_KEYWORDS: Readonly<Record<string, () => string>> = {
  '/settings': () => m.shell_settings(),
  '/memory': () => m.palette_find_memory(),
  '/sessions': () => m.palette_find_sessions(),
  '/prompts': () => m.palette_find_prompts(),
  '/schedules': () => m.palette_find_schedules(),
  '/approvals': () => m.palette_find_approvals(),
  '/agents': () => m.palette_find_agents(),
  '/channels': () => m.palette_find_channels(),
  '/models': () => m.palette_find_models(),
  '/tools': () => m.palette_find_tools(),
  '/usage': () => m.palette_find_usage(),
  '/logs': () => m.palette_find_logs(),
  '/doctor': () => m.palette_find_doctor(),
  '/backups': () => m.palette_find_backups(),
  '/trash': () => m.palette_find_trash(),
  '/devices': () => m.palette_find_devices(),
  '/console': () => m.palette_find_console(),
  '/settings/appearance': () => `${m.shell_theme()} ${m.palette_find_appearance()}`,
  '/settings/memory': () => m.palette_find_memory(),
  '/settings/voice': () => m.palette_find_voice(),
  '/settings/keyboard': () => m.palette_find_keyboard(),
  '/settings/advanced': () => m.palette_find_upstream(),
};

/** All pages, and sections of the settings that are no page of their own. */
export function getPages(): PaletteItem[] {
  const settings = getSettingsSections();
  const groups = [...getDestinations(), ...settings];
  const pages = getPlaces().map(({ href, label, icon }): PaletteItem => {
    // By the name of their destination or section, too.
    const keywords = [findGroup(groups, href)?.label ?? '', PLACE_KEYWORDS[href]?.() ?? ''].join(' ').trim();
    return {
      ...{ id: href, label, icon, keywords, run: () => goto(href) },
      // Tells pages of one name apart, such as Memory.
      ...(findGroup(settings, href) ? { detail: m.shell_settings() } : {}),
    };
  });
  const section = (id: string, label: string, icon: PaletteItem['icon'], keywords: string): PaletteItem => {
    const href = `${SETTING_PAGES[id] ?? '/settings'}#${id}`;
    return { id: href, label, icon, keywords, detail: m.shell_settings(), run: () => goto(href) };
  };
  return [
    ...pages,
    section('providers', m.shell_setting_providers(), Boxes, m.palette_find_providers()),
    section('model', m.shell_setting_model(), Boxes, m.palette_find_model()),
    section('tool-servers', m.shell_setting_tool_servers(), Radio, m.palette_find_tool_servers()),
    section('browser', m.shell_setting_browser(), Globe, m.palette_find_browser()),
    section('scans', m.shell_setting_scans(), ScanText, m.palette_find_scans()),
    section('notifications', m.shell_setting_notifications(), Bell, m.palette_find_notifications()),
    section('push', m.palette_push(), BellRing, m.palette_find_notifications()),
    section('connection', m.shell_setting_connection(), Plug, m.palette_find_connection()),
    section('keys', m.shell_setting_keys(), KeyRound, m.palette_find_keys()),
    section('storage', m.shell_setting_storage(), HardDrive, m.palette_find_storage()),
    section('first-steps', m.shell_setting_first_steps(), Footprints, m.palette_find_first_steps()),
    section('memory', m.palette_recall(), Brain, m.palette_find_memory()),
    section('meaning', m.palette_meaning(), Brain, m.palette_find_memory()),
  ];
}
