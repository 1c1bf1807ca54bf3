import { chosenSection } from './requirement.ts';

/** Several vaults on one bridge (docs/decisions/0076). */
export const vaults = [
  chosenSection('decision 0076', {
    'vaults/credential':
      'Which vault a request is for its credential says, on every surface; where its address names one, no other is looked at, and an unknown one is refused as if there were one vault',
    'vaults/walls': 'No credential, code or proof of one vault reaches another’s host, journal, attachments, figures, log or pages',
    'vaults/callbacks':
      'A browser that comes back from an OAuth service goes to the vault that its address names, and tries there lock nobody else’s',
    'vaults/password': 'A password is tried on one vault only: the one that is named, or that alone has one',
    'vaults/share': 'Each vault has its share of connections and requests, which no other can take',
    'vaults/commands': 'Vaults are made, listed and removed on the command line, and commands act on the one that `--vault` names',
    'vaults/browsers': 'Each vault has a managed Chromium of its own, and what befalls one touches no other',
    'vaults/browser-limit':
      'No more browsers run than may: the one that has been idle for longest makes room, never one with clients, work under way or something due; who waits in vain is told to come again',
  }),
];
