/** Pages of the guide in the order of the sidebar, in groups. A page is `docs/guide/<name>.md`. */
export const GROUPS: readonly { title: string; pages: readonly string[] }[] = [
  { title: 'Start', pages: ['getting-started', 'models', 'chat'] },
  { title: 'Knowledge', pages: ['memory', 'wiki', 'collections', 'annotate'] },
  {
    title: 'Agents',
    pages: [
      'tools',
      'automations',
      'hooks',
      'channels',
      'channels-matrix',
      'channels-nostr',
      'channels-discord',
      'channels-slack',
      'channels-email',
      'channels-ntfy',
      'channels-whatsapp',
      'channels-signal',
      'channels-irc',
      'browser',
    ],
  },
  { title: 'Programs', pages: ['api', 'command-line', 'libraries'] },
  { title: 'Your data', pages: ['security', 'backup-and-sync', 'devices', 'cluster'] },
  { title: 'Help', pages: ['troubleshooting'] },
];
