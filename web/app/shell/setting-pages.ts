/** Pages of the settings by the section that they show; `/settings#<section>` leads there. */
export const SETTING_PAGES: Readonly<Record<string, string>> = {
  scans: '/settings',
  notifications: '/settings',
  'first-steps': '/settings',
  appearance: '/settings/appearance',
  providers: '/models',
  model: '/models',
  'tool-servers': '/tools',
  memory: '/settings/memory',
  meaning: '/settings/memory',
  voice: '/settings/voice',
  keys: '/settings/privacy',
  browser: '/settings/privacy',
  connection: '/devices',
  storage: '/devices',
  keyboard: '/settings/keyboard',
  upstream: '/settings/advanced',
};
