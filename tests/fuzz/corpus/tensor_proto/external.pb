j
locationwp