// Command badplugin is one of the plugins of package badplugins, as the variable
// RELAY_BAD_PLUGIN of the environment says.
//
// Callers: tests that need a plugin as a file of its own.
package main
