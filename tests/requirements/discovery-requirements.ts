import { chosenSection, specifiedSection } from './requirement.ts';

/** Gateways on this machine and its network. */
export const discovery = [
  specifiedSection('interface 2, section 4.1', {
    'cli.discover/row': '`gateway discover` finds gateways by multicast DNS and a port scan, with `--timeout` and `--json`.',
  }),
  chosenSection('decisions, "Command line"', {
    'discovery/advertise':
      '`gateway run --advertise` tells the network `_perch-gw._tcp` with `version` and `protocol`; not unless it is asked to.',
    'discovery/advertise-exposed': 'A gateway that only this machine can reach is not advertised, and it says so.',
    'discovery/browse': 'Gateways that are advertised are found, each with the address that it can be reached at.',
    'discovery/scan': 'Ports of this machine that are listened on are asked for their health; the own /24 only with `--scan`.',
    'discovery/untrusted': 'What others say of themselves is shown without control characters, or left out.',
  }),
];
