import { chosenSection } from './requirement.ts';

/** Running Perch for others: what lies under `deploy`, and the parts that scale by engines of their own. */
export const operations = [
  chosenSection('issue "Beyond one machine", operations', {
    'operations/compose':
      'The compose file, its image and the servers’ configuration name commands, options, ports, variables and health checks that there are',
    'operations/service':
      'The example for systemd is one that systemd accepts, starts a command that there is, and lets Chromium have its sandbox',
    'operations/cluster': 'Three servers with that configuration and two bridges, set up by the commands of the document, share a vault',
    'operations/models': 'Several servers of models behind a balancer are one provider; one that fails takes no answer with it',
    'operations/browsers': 'The driven browser may be one of a grid that gives each agent a browser of its own',
  }),
] as const;
