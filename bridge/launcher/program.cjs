'use strict';

import('./perch.js');
