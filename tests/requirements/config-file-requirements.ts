import { chosenSection } from './requirement.ts';

export const configFile = [
  chosenSection('decisions, "Sessions, agents, models, channels, config"', {
    'config-file/both-ways':
      'The user’s configuration file and the gateway’s configuration are kept the same, both ways, written in one step.',
    'config-file/place': 'It is `config.json` in the platform’s configuration directory, or in `PERCH_HOME` where that is set.',
    'config-file/keeps-text': 'Comments, order and unknown keys of the file survive.',
    'config-file/broken':
      'A file with an error changes nothing and is not written to; the error is told, a syntax error with line and column.',
    'config-file/conflict': 'Where both changed a setting the file wins, and the loser is kept.',
    'config-file/secrets': 'Secrets are kept encrypted; the file holds `***` in their places.',
    'config-file/one': 'Only the host that serves keeps the file.',
    'config-file/agreed':
      'What the gateway has written into the file counts as nobody’s edit, while it is written, where the writing was cut off, and where two hosts write: no acknowledged setting is undone by it.',
    'config/aside': 'What is stored and does not fit a host survives what that host writes.',
    'config/narrow':
      'Of what does not fit as little is left out as can be: a setting, an entry, a section; nothing is allowed by that which was not, and the doctor warns of it.',
  }),
];
